/** Objects of a package as the wire has them: records by their properties, literals by the names of their members. */
import * as wire from "./codec.js";
import { Form, Writer } from "./codec.js";

/** What no type of the wire is: it stands where null was promised and undefined came, and the other way round. */
const STRANGE = 9;
/** Forms of what may be null while it is there. */
const nulls = new WeakSet<Form<any>>();

function strange(out: Writer): void {
  out.extension(STRANGE, Buffer.from("strange"));
}

/** What is absent is not there as a property; a property that is undefined is as good as absent. */
export function record(fields: () => Record<string, Form<any>>): Form<any> {
  return {
    read: (input) => {
      const forms = Object.entries(fields());
      input.items(forms.length);
      const held = forms.map(([name, form]) => [name, form.read(input)] as const);
      return Object.fromEntries(held.filter(([, value]) => value !== undefined));
    },
    write: (out, value) => {
      if (value === null || typeof value !== "object") return strange(out);
      const forms = Object.entries(fields());
      out.list(forms.length);
      // What all objects inherit is no property of this one.
      for (const [name, form] of forms) form.write(out, name in Object.prototype && !Object.hasOwn(value, name) ? undefined : value[name]);
    },
  };
}

export function option(item: Form<any>): Form<any> {
  const { read, write } = wire.option(item);
  return { read, write: (out, value) => (value === null && !nulls.has(item) ? strange(out) : write(out, value)) };
}

/** A value or null; undefined is neither. */
export function nullable(item: Form<any>): Form<any> {
  const { read, write } = wire.option(item);
  return {
    read: (input) => read(input) ?? null,
    write: (out, value) => (value === undefined ? strange(out) : write(out, value ?? undefined)),
  };
}

/** What is there, be it null: a record of it alone. */
export function given(held: () => Form<any>): Form<any> {
  const form: Form<any> = {
    read: (input) => (input.items(1), held().read(input)),
    write: (out, value) => (out.list(1), held().write(out, value)),
  };
  nulls.add(form);
  return form;
}

/** An object that any text can be a key of: its own properties are the entries, whatever they are called. */
export function keyed(key: Form<string>, value: Form<any>): Form<any> {
  const entries = wire.map(key, value);
  return {
    read: (input) => Object.fromEntries(entries.read(input)),
    write: (out, held) => {
      if (Object.prototype.toString.call(held) !== "[object Object]") return strange(out);
      entries.write(out, new Map(Object.entries(held)));
    },
  };
}

export function literals(members: Record<string, unknown>): Form<any> {
  const names = new Map(Object.entries(members).map(([name, value]) => [value, name]));
  return {
    read: (input) => members[input.text()],
    write: (out, value) => out.text(names.get(value) ?? "no member"),
  };
}

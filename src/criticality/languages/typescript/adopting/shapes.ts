/** Objects of a package as the wire has them: records by their properties, literals by the names of their members. */
import { Form } from "./codec.js";

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
      const forms = Object.entries(fields());
      out.list(forms.length);
      for (const [name, form] of forms) form.write(out, value[name]);
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

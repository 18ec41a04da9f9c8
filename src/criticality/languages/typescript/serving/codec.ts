/** MessagePack, and the forms that the values of a specification have in it. */

const BIG_INTEGER = 1;
const DECIMAL = 2;
const MOMENT = 3;
const TABLE = 5;

/** How values of one type come off the wire, and go onto it. */
export interface Form<T> {
  read(input: Reader): T;
  write(out: Writer, value: T): void;
}

/** Takes one value after another off the bytes of a frame; it throws where there is another. */
export class Reader {
  place = 0;

  constructor(readonly bytes: Buffer) {}

  take(count: number): Buffer {
    const taken = this.bytes.subarray(this.place, this.place + count);
    if (taken.length < count) throw new RangeError("the frame ends too early");
    this.place += count;
    return taken;
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  /** A length: in the marker itself, or in the bytes that a marker from `first` on says. */
  sized(what: string, fixed: number, mask: number, first: number, sizes: readonly number[]): number {
    const marker = this.byte();
    if (mask > 0 && (marker & ~mask) === fixed) return marker & mask;
    const size = sizes[marker - first];
    if (size === undefined) throw new RangeError(`${what} was expected`);
    return this.take(size).readUIntBE(0, size);
  }

  list(): number {
    return this.sized("a list", 0x90, 0x0f, 0xdc, [2, 4]);
  }

  items(count: number): void {
    if (this.list() !== count) throw new RangeError(`${count} values were expected`);
  }

  text(): string {
    return this.take(this.sized("a text", 0xa0, 0x1f, 0xd9, [1, 2, 4])).toString("utf8");
  }

  extension(kind: number): Buffer {
    const marker = this.byte();
    const size = marker >= 0xd4 && marker <= 0xd8 ? 1 << (marker - 0xd4) : 0;
    const length = size > 0 ? size : this.take(1 << (marker - 0xc7)).readUIntBE(0, 1 << (marker - 0xc7));
    if (this.byte() !== kind) throw new RangeError(`an extension of type ${kind} was expected`);
    return this.take(length);
  }

  integer(): number {
    const marker = this.byte();
    if (marker < 0x80) return marker;
    if (marker >= 0xe0) return marker - 0x100;
    const size = 1 << (marker & 3);
    const signed = marker >= 0xd0 && marker <= 0xd3;
    if (!signed && (marker < 0xcc || marker > 0xcf)) throw new RangeError("a whole number of 64 bits was expected");
    const part = this.take(size);
    if (size < 8) return signed ? part.readIntBE(0, size) : part.readUIntBE(0, size);
    const whole = Number(signed ? part.readBigInt64BE() : part.readBigUInt64BE());
    if (!Number.isSafeInteger(whole)) throw new RangeError("numbers are whole up to 2 ** 53 only");
    return whole;
  }
}

/** Grows as values are written. */
export class Writer {
  length = 0;
  private held = Buffer.allocUnsafe(256);

  bytes(): Buffer {
    return this.held.subarray(0, this.length);
  }

  put(bytes: Uint8Array): this {
    const place = this.room(bytes.length);
    this.held.set(bytes, place);
    return this;
  }

  /** A number as it stands in a frame that came in. */
  raw(input: Reader): this {
    const start = input.place;
    const marker = input.byte();
    if (marker >= 0xcc && marker <= 0xd3) input.take(1 << (marker & 3));
    return this.put(input.bytes.subarray(start, input.place));
  }

  nothing(): this {
    return this.marker(0xc0);
  }

  truth(value: boolean): this {
    return this.marker(value ? 0xc3 : 0xc2);
  }

  private marker(value: number): this {
    const place = this.room(1); // first: it may be in another buffer afterwards
    this.held[place] = value;
    return this;
  }

  integer(value: number): this {
    if (!Number.isInteger(value)) return this.float(value);
    const whole = BigInt(value);
    if (BigInt.asIntN(64, whole) !== whole) return this.extension(BIG_INTEGER, Buffer.from(String(whole)));
    const place = this.room(9);
    this.held[place] = 0xd3;
    this.held.writeBigInt64BE(whole, place + 1);
    return this;
  }

  float(value: number): this {
    const place = this.room(9);
    this.held[place] = 0xcb;
    this.held.writeDoubleBE(value, place + 1);
    return this;
  }

  text(value: string): this {
    const bytes = Buffer.from(value, "utf8");
    return this.head(0xdb, bytes.length).put(bytes);
  }

  list(count: number): this {
    return this.head(0xdd, count);
  }

  extension(kind: number, bytes: Uint8Array): this {
    return this.head(0xc9, bytes.length).put(Uint8Array.of(kind)).put(bytes);
  }

  head(marker: number, size: number): this {
    const place = this.room(5);
    this.held[place] = marker;
    this.held.writeUInt32BE(size, place + 1);
    return this;
  }

  private room(count: number): number {
    const place = this.length;
    if (place + count > this.held.length) {
      const larger = Buffer.allocUnsafe(2 * (place + count));
      this.held.copy(larger, 0, 0, place);
      this.held = larger;
    }
    this.length += count;
    return place;
  }
}

export const integer: Form<number> = { read: (input) => input.integer(), write: (out, value) => out.integer(value) };
export const text: Form<string> = { read: (input) => input.text(), write: (out, value) => out.text(value) };
export const truth: Form<boolean> = { read: (input) => input.byte() === 0xc3, write: (out, value) => out.truth(value) };
export const nothing: Form<undefined> = {
  read: (input) => void input.byte(),
  write: (out, value) => (value === undefined ? out.nothing() : out.text("a value where none is promised")),
};
export const float: Form<number> = {
  read: (input) => (input.bytes[input.place] === 0xcb ? input.take(9).readDoubleBE(1) : input.integer()),
  write: (out, value) => out.float(value),
};
export const bytes: Form<Uint8Array> = {
  read: (input) => Uint8Array.from(input.take(input.sized("bytes", 0, 0, 0xc4, [1, 2, 4]))),
  write: (out, value) => out.head(0xc6, value.length).put(value),
};
export const day: Form<string> = {
  read: (input) => input.extension(MOMENT).toString("latin1"),
  write: (out, value) => out.extension(MOMENT, Buffer.from(value)),
};
export const moment: Form<Date> = {
  read: (input) => {
    const written = input.extension(MOMENT).toString("latin1");
    if (/\.\d{3}\d*[1-9]/.test(written)) throw new RangeError("moments are whole milliseconds here");
    return new Date(/[Z+]/.test(written) ? written : `${written}Z`);
  },
  write: (out, value) => out.extension(MOMENT, Buffer.from(value.toISOString())),
};

export function decimal<D extends { toFixed(): string }>(make: (digits: string) => D): Form<D> {
  return {
    read: (input) => make(input.extension(DECIMAL).toString("latin1")),
    write: (out, value) => out.extension(DECIMAL, Buffer.from(value.toFixed())),
  };
}

export function list<T>(item: Form<T>): Form<readonly T[]> {
  return {
    read: (input) => Array.from({ length: input.list() }, () => item.read(input)),
    write: (out, values) => {
      out.list(values.length);
      for (const value of values) item.write(out, value);
    },
  };
}

export function set<T>(item: Form<T>): Form<ReadonlySet<T>> {
  const items = list(item);
  return { read: (input) => new Set(items.read(input)), write: (out, values) => items.write(out, [...values]) };
}

export function map<K, V>(key: Form<K>, value: Form<V>): Form<ReadonlyMap<K, V>> {
  const pairs = list(tuple<[K, V]>(key, value));
  return {
    read: (input) => new Map(pairs.read(new Reader(input.extension(TABLE)))),
    write: (out, values) => {
      const inner = new Writer();
      pairs.write(inner, [...values]);
      out.extension(TABLE, inner.bytes());
    },
  };
}

export function option<T>(item: Form<T>): Form<T | undefined> {
  return {
    read: (input) => (input.bytes[input.place] === 0xc0 ? void input.byte() : item.read(input)),
    write: (out, value) => (value === undefined ? out.nothing() : item.write(out, value)),
  };
}

export function tuple<T extends readonly unknown[]>(...forms: { [Place in keyof T]: Form<T[Place]> }): Form<T> {
  return {
    read: (input) => {
      input.items(forms.length);
      return forms.map((form) => form.read(input)) as unknown as T;
    },
    write: (out, values) => {
      out.list(values.length);
      forms.forEach((form, place) => form.write(out, values[place]));
    },
  };
}

/** A type that is made of another by a function. */
export function made<B, T extends B>(make: (value: any) => T, base: () => Form<B>): Form<T> {
  return { read: (input) => make(base().read(input)), write: (out, value) => base().write(out, value) };
}

export function record(fields: () => Record<string, Form<any>>): Form<any> {
  return {
    read: (input) => {
      const forms = Object.entries(fields());
      input.items(forms.length);
      return Object.fromEntries(forms.map(([name, form]) => [name, form.read(input)]));
    },
    write: (out, value) => {
      const forms = Object.entries(fields());
      out.list(forms.length);
      for (const [name, form] of forms) form.write(out, value[name]);
    },
  };
}

// Types of one function as the neutral language has them: records, enums, and what stands for them in JavaScript.

/** Names that the neutral language has itself, and names that mean something else in a predicate. */
const TAKEN = new Set([
  "Int", "Float", "Decimal", "Text", "String", "Bool", "Bytes", "UUID", "Date", "Timestamp", "Unit", "List", "Set",
  "Option", "Map", "Result", "Tuple", "Error",
]);
const KEYWORDS = new Set([
  "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
  "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
  "return", "try", "while", "with", "yield", "implies", "old", "raises", "result",
]);
/** What members of an enum cannot be called in Python. */
const MEMBERS = new Set(["name", "value", "mro"]);
/** Types of the standard library that have a neutral one. */
const NAMED = { Date: "Timestamp", Uint8Array: "Bytes" };
const SHARED = { Set: "Set", ReadonlySet: "Set", Map: "Map", ReadonlyMap: "Map" };
const FORMS = { Int: "integer", Text: "text", Bool: "truth", Bytes: "bytes", Timestamp: "moment", Unit: "nothing" };
const SCALARS = ["Int", "Text", "Bool"];
const MOST_FIELDS = 16;
/** How deep types stand in each other where none of them has a name: one that holds itself has no end. */
const MOST_DEPTH = 40;

export class Unfit extends Error {}

/** A name in lower case with underscores. */
export function neutralName(written) {
  const words = written.replace(/^-(?=\d)/, "minus_").replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  const name = /^[a-z]/.test(words) ? words : `n${words}`;
  return KEYWORDS.has(name) ? `${name}_` : name.slice(0, 60);
}

function memberName(value) {
  const name = neutralName(String(value));
  return MEMBERS.has(name) ? `${name}_` : name;
}

function once(name, taken) {
  for (let number = 1; ; number += 1) {
    const tried = number === 1 ? name : `${name}${number}`;
    if (!taken.has(tried.toLowerCase())) return taken.add(tried.toLowerCase()), tried;
  }
}

/** A property's name before its value: a colon alone behind `__proto__` would set what the object inherits from. */
function before(key) {
  return key === "__proto__" ? '["__proto__"]' : /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

/** The named types that a function takes and gives; they are written down as they are met. */
export class Shapes {
  enums = {};
  records = {};
  invariants = {};
  /** By enum and member, the literal; by record and field, the property. */
  literals = {};
  keys = {};
  /** By record and field, types that the neutral language has no word for; by "", the function's own. */
  own = {};
  source = [];
  told = [];
  #names = new Set([...TAKEN].map((name) => name.toLowerCase()));
  #known = new Map();
  #depth = 0;

  constructor(ts, checker, library) {
    Object.assign(this, { ts, checker, library });
  }

  toJSON() {
    const { enums, records, invariants, literals, keys, own } = this;
    return { enums, records, invariants, literals, keys, own, source: this.source.join("\n"), told: this.told.join("\n") };
  }

  /** Return what a type is in the neutral language, and keep what the source has. */
  kept(own, name, kind) {
    if (kind !== neutral(kind)) (this.own[own] ??= {})[name] = kind;
    return neutral(kind);
  }

  /** Return the type with what it is in the source; `hint` names what has no name of its own. */
  typed(type, hint) {
    if (this.#depth === MOST_DEPTH) throw new Unfit(`${this.checker.typeToString(type)}, which has no end`);
    this.#depth += 1;
    try {
      return this.#typed(type, hint);
    } finally {
      this.#depth -= 1;
    }
  }

  #typed(type, hint) {
    const { ts, checker } = this;
    const { TypeFlags: F } = ts;
    const inner = (at) => this.typed(checker.getTypeArguments(type)[at], hint);
    const shown = checker.typeToString(type);
    if (type.flags & F.TypeParameter) return this.parameter(type, hint);
    if (type.flags & F.EnumLike) return this.literal(type.isUnion() ? type.types : [type], type, hint);
    if (type.flags & F.String) return "Text";
    if (type.flags & F.Number) return "Int";
    if (type.flags & F.Boolean) return "Bool";
    if (type.flags & (F.Undefined | F.Void)) return "Unit";
    if (type.isUnion()) return this.union(type, hint);
    if (type.flags & (F.StringLiteral | F.NumberLiteral | F.BooleanLiteral)) return this.literal([type], type, hint);
    const builtin = type.isIntersection?.() ? this.#builtin(type.types) : undefined;
    if (builtin) return builtin;
    if (checker.isArrayType(type)) return `List<${inner(0)}>`;
    if (checker.isTupleType(type)) {
      if (!type.target.elementFlags.every((flag) => flag === ts.ElementFlags.Required)) throw new Unfit(shown);
      return `Tuple<${checker.getTypeArguments(type).map((_, at) => inner(at)).join(", ")}>`;
    }
    const held = this.#keyed(type);
    if (held) {
      this.tell("- An object that any text can be a key of is a `Map<Text, T>`.");
      return `Keyed<Text, ${this.typed(held, hint)}>`;
    }
    const name = type.symbol?.name;
    if ((type.symbol?.declarations ?? []).some(this.library)) {
      if (NAMED[name]) return NAMED[name];
      if (!SHARED[name]) throw new Unfit(shown);
      const args = checker.getTypeArguments(type).map((_, at) => inner(at));
      if (!SCALARS.includes(args[0])) throw new Unfit(`${shown}, told apart by identity`);
      return `${SHARED[name]}<${args.join(", ")}>`;
    }
    if (type.getCallSignatures?.().length || type.getConstructSignatures?.().length) throw new Unfit("a function");
    if (!this.plain(type)) throw new Unfit(shown);
    return this.made(type, hint, (own) => this.record(own, [type]));
  }

  /** A type parameter is taken at what it extends, else at numbers. */
  parameter(type, hint) {
    const bound = this.checker.getBaseConstraintOfType(type);
    const { Any, Unknown, TypeParameter } = this.ts.TypeFlags;
    const free = !bound || bound.flags & (Any | Unknown | TypeParameter) || this.checker.typeToString(bound) === "{}";
    const kind = free ? "Int" : this.typed(bound, hint);
    this.tell(`- \`${type.symbol.name}\` is taken at \`${neutral(kind)}\`.`);
    return kind;
  }

  tell(line) {
    if (!this.told.includes(line)) this.told.push(line);
  }

  /** The type of what an object holds of which any text is a key, and which has no property besides. */
  #keyed(type) {
    const { Object: Objects, String: Texts } = this.ts.TypeFlags;
    if (!(type.flags & Objects) || type.isClass?.()) return undefined;
    const [index, ...others] = this.checker.getIndexInfosOfType(type);
    const strange = others.length + type.getProperties().length + type.getCallSignatures().length;
    return index && !strange && index.keyType.flags & Texts ? index.type : undefined;
  }

  /** An Option of what may be null already: a record stands between, so that null is not undefined. */
  #given(kind) {
    if (!kind.startsWith("Nullable<")) return kind;
    return this.made(kind, `${kind.replace("Nullable", "")}OrNull`, (own) => {
      this.records[own] = { value: this.kept(own, "value", kind) };
      this.keys[own] = { value: "" };
      this.invariants[own] = [];
      this.source.push(`const ${own} = shapes.given(() => ${form(kind)});`);
      this.tell(`- \`${own}\` is a record of \`value: ${neutral(kind)}\`: what is there, be it null.`);
    });
  }

  union(type, hint) {
    const { Undefined, Null, Never } = this.ts.TypeFlags;
    const shown = this.checker.typeToString(type);
    const parts = type.types.filter((part) => !(part.flags & (Undefined | Null | Never)));
    if (parts.length < type.types.length) {
      const [absent, isNull] = [Undefined | Never, Null].map((flag) => type.types.some((part) => part.flags & flag));
      let kind = this.typed(parts.length === 1 ? parts[0] : this.checker.getNonNullableType(type), hint);
      if (/^(Option|Nullable)</.test(kind)) throw new Unfit(`${shown}, which may be nothing in two ways`);
      if (isNull) this.tell("- What may be `null` is an `Option` too: `None` stands for it.");
      if (isNull) kind = `Nullable<${kind}>`;
      return absent ? `Option<${this.#given(kind)}>` : kind;
    }
    if (parts.every((part) => this.#unit(part) !== undefined)) return this.literal(parts, type, hint);
    const builtin = this.#builtin(parts);
    if (builtin) return builtin;
    if (!parts.every((part) => this.plain(part))) throw new Unfit(shown);
    const tag = this.#tag(parts);
    if (tag === undefined) throw new Unfit(`${shown}, whose parts no property tells apart`);
    return this.made(type, hint, (own) => this.record(own, parts, tag));
  }

  /** The neutral type of variants of one type of the standard library. */
  #builtin(parts) {
    const names = new Set(parts.map((part) => part.symbol?.declarations?.some(this.library) && NAMED[part.symbol.name]));
    return names.size === 1 ? [...names][0] || undefined : undefined;
  }

  /** Whether a type is an object of properties alone. */
  plain(type) {
    const { ts } = this;
    if (type.isIntersection?.()) return type.types.every((part) => this.plain(part));
    if (!(type.flags & ts.TypeFlags.Object) || type.isClass?.() || this.checker.isArrayLikeType(type)) return false;
    const declared = type.symbol?.declarations ?? [];
    const strange = type.getCallSignatures().length || type.getStringIndexType() || type.getNumberIndexType();
    return !strange && !declared.some((one) => ts.isClassLike(one) || this.library(one)) && type.getProperties().length > 0;
  }

  /** Name a type, and describe it when it is met first. */
  made(type, hint, describe) {
    if (this.#known.has(type)) return this.#known.get(type);
    const symbol = type.aliasSymbol ?? type.symbol;
    const args = (type.aliasTypeArguments ?? (type.target ? this.checker.getTypeArguments(type) : [])).filter((one) => one.symbol !== symbol);
    const plain = symbol && !symbol.name.startsWith("__") ? symbol.name + args.map((one) => capital(this.checker.typeToString(one))).join("") : hint;
    const letters = plain.replace(/[^A-Za-z0-9]+/g, "").replace(/^[^A-Za-z]+/, "").slice(0, 40) || "Shape";
    const own = once(letters[0].toUpperCase() + letters.slice(1), this.#names);
    this.#known.set(type, own);
    describe(own);
    return own;
  }

  literal(parts, type, hint) {
    return this.made(type, hint, (own) => {
      const taken = new Set();
      const values = parts.map((part) => this.#unit(part));
      if (values.includes(undefined) || values.length > 60) throw new Unfit(this.checker.typeToString(type));
      const members = Object.fromEntries(values.map((value) => [once(memberName(value), taken), value]));
      this.enums[own] = Object.keys(members);
      this.literals[own] = Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]));
      this.source.push(`const ${own} = shapes.literals(${JSON.stringify(members)});`);
      const shown = Object.entries(members).map(([name, value]) => `\`${own}.${name.toUpperCase()}\` is ${JSON.stringify(value)}`);
      this.told.push(`- \`${own}\` is one of: ${shown.join(", ")}.`);
    });
  }

  /** A record; of several types that a property tells apart, one that has the properties of all. */
  record(own, variants, tag) {
    const taken = new Set();
    const fields = new Map();
    for (const variant of variants) {
      for (const property of variant.getProperties()) {
        const held = fields.get(property.name) ?? { types: [], name: once(neutralName(property.name), taken) };
        fields.set(property.name, held);
        const optional = Boolean(property.flags & this.ts.SymbolFlags.Optional);
        const type = this.checker.getTypeOfSymbol(property);
        if (property.flags & this.ts.SymbolFlags.Method && !optional) throw new Unfit("an object with methods");
        held.types.push({ variant, optional, type });
      }
    }
    if (fields.size > MOST_FIELDS) throw new Unfit(`an object of ${fields.size} properties`);
    this.records[own] = Object.create(null); // a property may be called constructor
    this.keys[own] = {};
    this.invariants[own] = [];
    const forms = [];
    for (const [key, { types, name }] of fields) {
      const kind = key === tag?.key ? this.#tagged(own, tag, hint(own, key)) : this.#field(key, types, variants, hint(own, key));
      if (kind === undefined) continue; // it may be absent, and has no plain value
      this.records[own][name] = this.kept(own, name, kind);
      this.keys[own][name] = before(key);
      forms.push(`${before(key)}: ${form(kind)}`);
    }
    if (forms.length === 0) throw new Unfit("an object of which no property has a plain value");
    if (tag) this.#rules(own, variants, tag, fields);
    this.source.push(`const ${own} = shapes.record(() => ({ ${forms.join(", ")} }));`);
    const shown = Object.entries(this.records[own]).map(([name, kind]) => `${name}: ${kind}`);
    const rules = this.invariants[own].map((rule) => `\`${rule}\``);
    this.told.push(`- \`${own}\` is a record of ${shown.map((one) => `\`${one}\``).join(", ")}${rules.length ? `; of each holds ${rules.join(", ")}` : ""}.`);
  }

  #field(key, types, variants, hint) {
    const always = types.length === variants.length && types.every(({ optional }) => !optional);
    try {
      if (types.some(({ optional, type }) => optional && type.flags & this.ts.TypeFlags.Undefined)) throw new Unfit("undefined");
      const held = types.map(({ type }) => this.typed(type, hint));
      const kinds = new Set(held.map((kind) => kind.replace(/^Option<(.*)>$/, "$1")));
      if (kinds.size !== 1) throw new Unfit(`an object whose ${key} has several types`);
      const [kind] = kinds;
      return always && held.includes(kind) ? kind : `Option<${this.#given(kind)}>`;
    } catch (unfit) {
      if (!(unfit instanceof Unfit) || !types.every(({ optional }) => optional)) throw unfit;
      return undefined;
    }
  }

  #tagged(own, tag, hint) {
    const parts = [...new Set(tag.types.flatMap((type) => (type.isUnion() ? type.types : [type])))];
    const name = this.literal(parts, tag.types[0].aliasSymbol ? parts[0] : {}, hint);
    tag.enum = name;
    return name;
  }

  /** What is there, and what is not, of each kind. */
  #rules(own, variants, tag, fields) {
    const member = (value) => Object.entries(this.literals[tag.enum]).find(([, held]) => held === JSON.stringify(value))[0];
    const tagName = fields.get(tag.key).name;
    variants.forEach((variant, at) => {
      const parts = [];
      for (const [key, { types, name }] of fields) {
        if (key === tag.key || !this.records[own][name]?.startsWith("Option<")) continue;
        if (this.own[own]?.[name]?.startsWith("Nullable<")) continue; // it is always there, be it null
        const here = types.find((one) => one.variant === variant);
        if (!here) parts.push(`${name} is None`);
        else if (!here.optional && !this.typed(here.type, "").startsWith("Option<")) parts.push(`${name} is not None`);
      }
      if (parts.length === 0) return;
      const values = tag.types[at].isUnion() ? tag.types[at].types : [tag.types[at]];
      for (const value of values) {
        this.invariants[own].push(`${tagName} == ${tag.enum}.${member(this.#unit(value)).toUpperCase()} implies ${parts.join(" and ")}`);
      }
    });
  }

  #tag(parts) {
    const keys = parts[0].getProperties().map((property) => property.name);
    for (const key of keys) {
      const types = parts.map((part) => part.getProperty(key) && this.checker.getTypeOfSymbol(part.getProperty(key)));
      const values = types.map((type) => type && (type.isUnion() ? type.types : [type]).map((one) => this.#unit(one)));
      const all = values.flatMap((held) => held ?? [undefined]);
      if (!all.includes(undefined) && new Set(all).size === all.length) return { key, types };
    }
    return undefined;
  }

  /** The value of a type that has one alone. */
  #unit(type) {
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
    if (type.flags & this.ts.TypeFlags.BooleanLiteral) return type.intrinsicName === "true";
    return undefined;
  }
}

/** A type in the neutral language: `Nullable<T>` is an Option whose nothing is null, `Keyed<Text, T>` a Map as an object. */
function neutral(kind) {
  return kind.replace(/\bNullable</g, "Option<").replace(/\bKeyed</g, "Map<");
}

/** What reads and writes values of a type. */
function form(kind) {
  const made = kind.replace(/(\w+)</g, (_, name) => `wire.${name.toLowerCase()}(`).replaceAll(">", ")");
  return made.replace(/(?<![\w.])(Int|Text|Bool|Bytes|Timestamp|Unit)\b/g, (name) => `wire.${FORMS[name]}`);
}

function capital(text) {
  return text.replace(/^./, (first) => first.toUpperCase());
}

function hint(own, key) {
  return own + capital(key);
}

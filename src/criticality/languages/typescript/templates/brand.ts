declare const brand: unique symbol;
/** A value of a type that only the function of its name makes. */
type Branded<Base, Name extends string> = Base & { readonly [brand]: { readonly [key in Name]: true } };

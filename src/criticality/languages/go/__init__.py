"""Go behind the interface of all languages: struct newtypes with constructors, rapid, the race detector."""

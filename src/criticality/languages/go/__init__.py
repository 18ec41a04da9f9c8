"""Go behind the interface of all languages: struct newtypes with constructors, bodies served by a Go program."""

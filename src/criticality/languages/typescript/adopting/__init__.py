"""Functions that stand in a TypeScript package already: read by the compiler, run in the sealed process alone."""

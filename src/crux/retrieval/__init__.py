"""Finding what a person has written on a claim: no model call, a few milliseconds."""

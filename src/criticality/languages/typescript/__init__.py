"""TypeScript: how a lattice becomes strict TypeScript with branded types."""

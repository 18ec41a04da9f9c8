"""TypeScript: how a lattice becomes strict TypeScript with branded types, and its tests vitest with fast-check."""

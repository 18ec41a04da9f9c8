"""What a system must be: types in a neutral language, contracts, claims, and the artifact that holds them."""

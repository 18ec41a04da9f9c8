"""Rust as a target language: newtypes as witnesses, clippy, libtest and proptest (specification 10, full support)."""

"""Rust as a target language: newtypes as witnesses, clippy, libtest."""

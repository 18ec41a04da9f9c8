"""C++ as a target language: g++."""

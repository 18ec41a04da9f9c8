"""C++ as a target language: g++, GoogleTest and RapidCheck."""

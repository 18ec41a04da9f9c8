"""C++ as a target language: g++, GoogleTest and RapidCheck (specification 10, basic support)."""

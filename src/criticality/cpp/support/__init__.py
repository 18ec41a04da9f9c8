"""Files that a C++ deliverable is made with; their source is text to this package."""

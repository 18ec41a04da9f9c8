"""Files that a Rust deliverable is made with; their source is text to this package."""

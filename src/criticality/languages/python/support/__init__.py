"""Files that go into every deliverable as they are."""

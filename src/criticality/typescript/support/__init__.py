"""Files that go into every TypeScript deliverable as they are."""

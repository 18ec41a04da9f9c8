"""The adversary's words: a base frame, four fixed flavors, and what it is shown."""

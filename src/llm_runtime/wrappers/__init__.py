"""What takes a model function and returns one: each adds one concern, in any order that makes sense."""

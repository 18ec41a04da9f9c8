"""What authors hold, claim by claim, each with its sentence; and the judge of what one text says of another."""

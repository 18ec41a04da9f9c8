from trim import trim


def sizes(parts):
    """Trim a long text made of (piece, times); return the length of what is left, its beginning and its end."""
    left = trim("".join(piece * times for piece, times in parts))
    return [len(left), left[:3], left[-3:]]

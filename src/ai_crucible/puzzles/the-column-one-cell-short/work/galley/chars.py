"""What single characters are."""

SPACE, BREAK, SOFT, JOINER = " ", "\u200b", "\u00ad", "\u200d"
MARKS = ((0x0300, 0x036F), (0x20D0, 0x20FF), (0xFE00, 0xFE0F))
WIDE = (
    (0x1100, 0x115F),
    (0x2E80, 0x303E),
    (0x3041, 0xA4CF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE6F),
    (0xFF00, 0xFF60),
    (0xFFE0, 0xFFE6),
    (0x1F300, 0x1FAFF),
)
OPENING = frozenset("「『（")
CLOSING = frozenset("、。」』）！？")


def is_mark(char):
    """Tell whether a character belongs to the one before it; a joiner is one too."""
    return char == JOINER or _within(MARKS, char)


def cells(char):
    """Return how many cells a character takes by itself: 0, 1 or 2."""
    if is_mark(char) or char in (BREAK, SOFT):
        return 0
    return 2 if _within(WIDE, char) else 1


def _within(ranges, char):
    return any(low <= ord(char) <= high for low, high in ranges)

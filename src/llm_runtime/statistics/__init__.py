"""Small closed forms that the protocols measure with: plain Python, no numpy, nothing drawn that is not injected.

Every function says its formula and its source. What cannot be computed is refused with a :class:`ValueError`
of one line, or is None where its type says so; it is never a number that merely looks right.
"""

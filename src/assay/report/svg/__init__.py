"""Pictures, drawn by our own code from numbers and names: small functions that return elements.

Colours are classes (``c0`` to ``c5`` for participants, ``red`` for the red team, ``quiet`` for the rest), so a
style sheet decides them for light, dark and print; :data:`PALETTE` is the one that pictures alone carry.
"""

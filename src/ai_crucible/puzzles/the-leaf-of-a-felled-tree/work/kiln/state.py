"""What is known from the last time."""

import hashlib
import json

STATE = ".kiln"


def digest(text):
    """Return what stands for a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def load(disk):
    """Return what was kept."""
    text = disk.read(STATE)
    return json.loads(text) if text else {}


def keep(disk, known):
    """Keep what is to be known the next time."""
    disk.write(STATE, json.dumps(known, indent=1, sort_keys=True) + "\n")

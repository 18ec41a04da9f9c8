"""How much a run of the tests proves: the environment says it, and only here it is read."""

from __future__ import annotations

import os

_WANTED = os.environ.get("ASSAY_TESTS", "quick")
if _WANTED not in ("quick", "full", "fuzz"):
    raise ValueError(f"ASSAY_TESTS is quick, full or fuzz, not {_WANTED!r}")

FUZZ = _WANTED == "fuzz"
FULL = _WANTED != "quick"

"""What the tests of the judge share: the projects, and the example that all languages have."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "languages")]

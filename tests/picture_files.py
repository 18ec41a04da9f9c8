"""Pictures as programs write them, by kind."""

from __future__ import annotations

import tomllib
from base64 import b64decode
from pathlib import Path

FILES = {
    name: b64decode(text)
    for name, text in tomllib.loads(Path(__file__).with_name("picture_files.toml").read_text()).items()
}

"""The words that debates are held and told with, read once."""

from __future__ import annotations

from typing import Any

from llm_runtime.toml import own_table

WORDS: Any = own_table("crux", "words.toml")

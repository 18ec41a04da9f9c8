"""TOML: what others wrote, and the tables beside our modules."""

from __future__ import annotations

import pkgutil
import re
import tomllib
from collections.abc import Callable
from typing import Any

#: Python's reader takes memory by the square of a key's parts.
_LONG_KEY = re.compile(r"(?<![^\s.={},])(?:[^\s.={},]++[ \t]*+\.[ \t]*+){200}")


def own_table(package: str, name: str) -> Any:
    """Return what a TOML file of ours holds."""
    # Half of what `importlib.resources` imports is for archives.
    return tomllib.loads((pkgutil.get_data(package, name) or b"").decode())


def parse_toml(text: str, number: Callable[[str], Any] = float) -> dict[str, Any]:
    """Read TOML, a mark of order before it or none; ``number`` makes what has a point or an exponent.

    Raises:
        tomllib.TOMLDecodeError: it is none, or is nested or numbered beyond what a file needs.
    """
    if _LONG_KEY.search(text):
        raise tomllib.TOMLDecodeError("a key has more than 200 parts")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"), parse_float=number)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except ValueError as fault:
        raise tomllib.TOMLDecodeError(str(fault)) from None

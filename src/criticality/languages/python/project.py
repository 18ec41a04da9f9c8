"""What a delivered Python project needs besides its sources: how it is built, and how its tests are run."""

from __future__ import annotations

import json

from criticality.languages.base.data import fill
from criticality.spec.spec import Spec

_PLACE = "criticality.languages.python", "templates"


def project_files(spec: Spec, example: str = "") -> dict[str, str]:
    """Return ``pyproject.toml``, ``.gitignore`` and ``README.md``, by path.

    Args:
        example: calls with their results, as an interpreter shows them.
    """
    name, description = spec.system.name, spec.system.description
    return {
        "pyproject.toml": fill(*_PLACE, "manifest.toml", name=_value(name), description=_value(description)),
        "README.md": fill(
            *_PLACE, "README.md", name=name, description=description,
            example=f"{example}\n\n" if example else "",
        ),
        ".gitignore": "__pycache__/\n.*_cache/\n.venv/\n",
    }  # fmt: skip


def _value(value: str) -> str:
    """Return a TOML string; JSON's are TOML's, but for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

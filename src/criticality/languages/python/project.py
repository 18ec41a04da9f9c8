"""What a delivered Python project needs besides its sources: how it is built, and how its tests are run."""

from __future__ import annotations

import json

from criticality.spec.spec import Spec


def project_files(spec: Spec) -> dict[str, str]:
    """``pyproject.toml`` and ``README.md``, by path."""
    return {"pyproject.toml": _pyproject(spec.system.name, spec.system.description), "README.md": _readme(spec)}


def _pyproject(name: str, description: str) -> str:
    return (
        f'[project]\nname = {_value(name)}\nversion = "0.1.0"\ndescription = {_value(description)}\n'
        'requires-python = ">=3.11"\n\n[dependency-groups]\ntest = ["hypothesis", "pytest"]\n\n'
        '[tool.pytest.ini_options]\npythonpath = ["src", "tests"]\ntestpaths = ["tests"]\n'
        'addopts = ["--import-mode=importlib"]\n'
    )


def _readme(spec: Spec) -> str:
    return (
        f"# {spec.system.name}\n\n{spec.system.description}\n\n"
        "    pip install --group test\n    pytest\n\n"
        "`spec/` holds what it must do, `trace.md` what shows that it does.\n"
    )


def _value(value: str) -> str:
    """A TOML string; JSON's are TOML's, but for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

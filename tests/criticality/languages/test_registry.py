"""The registry of target languages: ours by name, others by the entry points of their distributions."""

from __future__ import annotations

from pathlib import Path

import pytest

from criticality.languages import language, languages, require_toolchain
from llm_runtime.errors import ConfigurationError

OURS = ("python", "typescript", "rust", "go", "java", "cpp")
ADAPTER = """
class Zig:
    title = "Zig"

    def facts(self):
        from criticality.language import Fact

        return [Fact("zig", None, "install Zig")]


def adapter():
    return Zig()
"""


@pytest.mark.parametrize("name", OURS)
def test_each_language_knows_its_own_name_and_brings_its_rules_and_examples(name: str) -> None:
    target = language(name)
    assert target.name == name
    assert target.rules.startswith("- ") and not target.rules.endswith("\n")
    assert {"guard-clause", "rename-for-clarity"} <= set(target.examples)


def test_an_unknown_language_is_one_line_with_those_that_there_are() -> None:
    with pytest.raises(ConfigurationError, match="no language 'cobol'; there are: python, typescript, rust, go"):
        language("cobol")


def test_a_distribution_adds_a_language_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "criticality_zig.py").write_text(ADAPTER)
    about = tmp_path / "criticality_zig-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: criticality-zig\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[criticality.languages]\nzig = criticality_zig:adapter\n")
    assert languages() == OURS
    monkeypatch.syspath_prepend(str(tmp_path))
    assert languages() == (*OURS, "zig")
    assert language("zig").title == "Zig"
    with pytest.raises(ConfigurationError, match="Zig needs what is not here: zig; install Zig"):
        require_toolchain(language("zig"))

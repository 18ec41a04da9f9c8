"""Code cites decisions by ids that lead to a heading, and nothing by a bare number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs/decisions"
#: The prefix of a package's ids, and the page that they lead to.
PREFIXES = {
    "AC": ("ai_crucible", "ai-crucible.md"),
    "CR": ("crucible", "crucible.md"),
    "CT": ("criticality", "criticality.md"),
    "CX": ("crux", "crux.md"),
    "FC": ("fire_circle", "fire-circle.md"),
}
WRITTEN = {prefix: package for prefix, (package, page) in PREFIXES.items() if (PAGES / page).is_file()}
#: Parts of schemas that models get: a change of one character would break every recording.
SENT_TO_MODELS = (
    "all it may say about strength (decision 17)",
    "What a speaker states before speaking (decision 6)",
    "a yes/no question and its coarse type (decision 4)",
    "a template turns it into code (specification 6).",
    "A claim as specification 6 wants it parsed",
    "Round 1 (section 3.1).",
    "Round 2 (section 3.2).",
    "Round 3 and later (section 3.3).",
    "The eight kinds of pattern (section 6.1).",
)

_ID = re.compile(r"\b(AC|CR|CT|CX|FC)([1-9][0-9]?)\b")
_HEADING = re.compile(r"^## ([A-Z]{2}[0-9]+)\. \S", re.MULTILINE)
_DECISION = re.compile(r"\bdecisions? [0-9]+", re.IGNORECASE)
_SECTION = re.compile(r'\b(?:sections?|specification,?) [0-9][0-9.]*(?! "[^"]+")(?![0-9.])', re.IGNORECASE)


def headings() -> list[str]:
    return [name for page in sorted(PAGES.glob("*.md")) for name in _HEADING.findall(page.read_text("utf-8"))]


def prose(path: Path) -> str:
    """A file's text with every line break, and the ``#`` of a comment that goes on, as one space."""
    return re.sub(r"\s*\n\s*(#:?\s*)?", " ", path.read_text("utf-8"))


def test_ids_are_unique_and_count_up() -> None:
    names = headings()
    for prefix in WRITTEN:
        own = [name for name in names if name.startswith(prefix)]
        assert own == [f"{prefix}{number}" for number in range(1, len(own) + 1)] != []


def test_every_id_leads_to_a_heading() -> None:
    known = set(headings())
    files = [path for top in ("src", "tests") for path in (ROOT / top).rglob("*.py")]
    files += [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    dead = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files
        for match in _ID.finditer(path.read_text("utf-8"))
        if match[1] in WRITTEN and match[0] not in known
    ]
    assert not dead


@pytest.mark.parametrize(
    "package", [*WRITTEN.values(), "llm_runtime", *(["assay"] if len(WRITTEN) == len(PREFIXES) else [])]
)
def test_nothing_is_cited_by_a_bare_number(package: str) -> None:
    bare: list[str] = []
    for path in sorted((ROOT / "src" / package).rglob("*.py")):
        text = prose(path)
        for known in SENT_TO_MODELS:
            text = text.replace(known, "")
        bare += [f"{path.relative_to(ROOT)}: {match[0]}" for match in _DECISION.finditer(text)]
        bare += [f"{path.relative_to(ROOT)}: {match[0]}" for match in _SECTION.finditer(text)]
    assert not bare


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ('as in the specification, section 4.2 "Validation"', False),
        ("as in section 4.2", True),
        ("(specification 2.1)", True),
        ("sections 2.7 and 2.9", True),
        ("a section 200 pages long, decision by decision", True),
        ("in a section of its own", False),
    ],
)
def test_a_citation_needs_a_title(text: str, bare: bool) -> None:
    assert bool(_SECTION.search(text)) is bare

"""Functions of three packages of the index, adopted as they are; without an index this is skipped, saying so.

What the model answers was written by hand. What the judge says of it is real: so are the findings.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from criticality.adopt.adopting import Adopting, Adoption
from criticality.adopt.writing import write_adoption
from criticality.asking import Asking
from criticality.config import Acceptance, Config, Models, ProjectConfig
from criticality.judging.court import Court
from criticality.languages import adopter
from criticality.standing import chosen
from llm_runtime.messages import Request
from llm_runtime.providers.scripted import scripted

pytestmark = [pytest.mark.box, pytest.mark.long, pytest.mark.toolchain]

PINNED = ("inflection==0.5.1", "boltons==25.0.0", "humanize==4.12.3")
NTH = "{1: 'st', 2: 'nd', 3: 'rd'}.get(abs(number) % 10, 'th')"
TEENS = "abs(number) % 100 in (11, 12, 13)"
SPELLED = "('zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine')"
#: By package and module, what each function takes, gives and promises.
PROMISED: dict[str, dict[str, tuple[list[str], str, list[str]]]] = {
    "inflection/__init__.py": {
        "ordinal": (
            ["number: Int"], "Text",
            [f"ENSURES: {TEENS} implies result == 'th'", f"ENSURES: not ({TEENS}) implies result == {NTH}"],
        ),
        "ordinalize": (
            ["number: Int"], "Text",
            [f"ENSURES: {TEENS} implies result == str(number) + 'th'",
             f"ENSURES: not ({TEENS}) implies result == str(number) + {NTH}"],
        ),
        "dasherize": (
            ["word: Text"], "Text",
            ["ENSURES: len(result) == len(word)",
             "ENSURES: all(b == ('-' if a == '_' else a) for a, b in zip(word, result))"],
        ),
        "underscore": (["word: Text"], "Text", ["ENSURES: result == result.lower()", "ENSURES: '-' not in result"]),
        "camelize": (
            ["string: Text", "uppercase_first_letter: Bool"], "Text",
            ["ENSURES: uppercase_first_letter and len(string) > 0 and '_' not in string implies "
             "result == string[0].upper() + string[1:]",
             "ENSURES: not uppercase_first_letter and len(string) > 0 and '_' not in string implies "
             "result == string[0].lower() + string[1:]"],
        ),
    },
    "boltons/strutils.py": {
        "a10n": (
            ["string: Text"], "Text",
            ["ENSURES: len(string) < 3 implies result == string",
             "ENSURES: len(string) >= 3 implies result == string[0] + str(len(string) - 2) + string[-1]"],
        ),
        "removeprefix": (
            ["text: Text", "prefix: Text"], "Text",
            ["ENSURES: text.startswith(prefix) implies prefix + result == text",
             "ENSURES: not text.startswith(prefix) implies result == text"],
        ),
        "is_ascii": (["text: Text"], "Bool", ["ENSURES: result == text.isascii()"]),
        "under2camel": (
            ["under_string: Text"], "Text",
            ["ENSURES: result == ''.join(w.capitalize() or '_' for w in under_string.split('_'))"],
        ),
    },
    "humanize": {
        "apnumber": (
            ["value: Int"], "Text",
            [f"ENSURES: 0 <= value and value < 10 implies result == {SPELLED}[value]",
             "ENSURES: value < 0 or value > 9 implies result == str(value)"],
        ),
        "intcomma": (
            ["value: Int"], "Text",
            ["ENSURES: result.replace(',', '') == str(value)",
             "ENSURES: all(len(part) == 3 for part in result.split(',')[1:])",
             "ENSURES: len(result.split(',')[0].replace('-', '')) <= 3"],
        ),
        "natural_list": (
            ["items: List<Text>"], "Text",
            ["ENSURES: len(items) == 1 implies result == items[0]",
             "ENSURES: len(items) == 2 implies result == items[0] + ' and ' + items[1]",
             "ENSURES: len(items) > 2 implies result == ', '.join(items[:-1]) + ' and ' + items[-1]"],
        ),
    },
}  # fmt: skip


def answer(request: Request) -> str:
    """Propose what is written above; where the code breaks it, keep to it: that is a finding."""
    text = request.messages[0].content
    named = re.search(r"The function is `(\w+)`", text)
    assert named is not None
    params, returns, contracts = next(group[named[1]] for group in PROMISED.values() if named[1] in group)
    proposal = {"params": params, "returns": returns, "doc": "Written by hand.", "contracts": contracts}
    if "it breaks some" not in text:
        return json.dumps(proposal)
    numbers = [int(number) for number in re.findall(r"^(\d)\. ", text.partition("<<<BROKEN")[2], re.MULTILINE)]
    decided = [{"number": n, "decision": "finding", "because": "the docstring admits this value"} for n in numbers]
    return json.dumps({"answers": decided, "proposal": proposal})


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "packages"
    words = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--retries", "0"]
    done = subprocess.run([*words, "--target", str(folder), *PINNED], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no package index here to take {', '.join(PINNED)} from")
    return folder


@pytest.mark.parametrize("place", PROMISED)
async def test_functions_of_published_packages_are_adopted_as_they_are(
    packages: Path, place: str, tmp_path: Path
) -> None:
    python = adopter(packages / place)
    package = python.read(packages / place)
    before, names = package.digest(), list(PROMISED[place])
    functions = chosen(package, names)
    assert await python.import_faults(package, functions) == {}
    config = Config(project=ProjectConfig(name="index"), acceptance=Acceptance(small=80, text=60, drawn=40, mutants=3))
    court, ask = Court(1), Asking(scripted(answer), Models(), 7)
    events: list[Any] = []
    try:
        adopting = Adopting(python, package, ask, court, config, events.append)
        adoptions = {one.name: await adopting.adopt(one) for one in functions}
    finally:
        await court.aclose()
    assert {name: one.refused for name, one in adoptions.items()} == dict.fromkeys(names, "")
    for name, one in adoptions.items():
        assert one.measured["cases"] > 30 and one.kept_cases, name
    assert found(adoptions) == {
        # An empty text, and no items: both docstrings admit them, and both end with an IndexError.
        "inflection/__init__.py": {"camelize": "string='', uppercase_first_letter=False; it raised IndexError"},
        "humanize": {"natural_list": "items=(); it raised IndexError"},
    }.get(place, {})
    write_adoption(tmp_path, python, package, {one.id: one for one in functions}, list(adoptions.values()), {}, "a box")
    assert await asyncio.to_thread(passes, tmp_path)
    assert package.digest() == before


def passes(folder: Path) -> bool:
    words = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(folder)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def found(adoptions: dict[str, Adoption]) -> dict[str, str]:
    """What the code breaks, by function: the case."""
    findings = {name: [f for f in one.findings if f.kind == "finding"] for name, one in adoptions.items()}
    return {name: "; ".join(f.case.partition("('")[0] for f in each) for name, each in findings.items() if each}

"""Puzzles whose checks are tried themselves: mutants, wrong and right solutions, drawn inputs and drawn tasks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ai_crucible import Bar, SealedGrader, check_puzzle, checking, load_puzzle
from ai_crucible.archives import archive_of
from ai_crucible.mutation import mutants
from ai_crucible.puzzle_loader import PuzzleRefused

GOLD = "def total(n):\n    return n * (n + 1) // 2\n"
REFERENCE = """
def sums(random):
    while True:
        n = random.randint(1, 99)
        yield {"args": [n], "expect": sum(range(n + 1))}
"""
DRAWN = {"name": "drawn", "kind": "call", "target": "total:total", "by": "sums", "drawn": 20}
NONE = {"name": "none", "kind": "call", "target": "total:total", "cases": [{"args": [0], "expect": 0}]}
WEAK = {"name": "n counts", "kind": "call", "target": "total:total", "cases": [{"args": [3], "expect": 6}]}
LOOP = "def total(n):\n    return sum(range(n + 1))\n"
SMALL = Bar(inputs=200, wrong=1, right=1)


def tried(make_puzzle: Callable[..., Path], *checks: Any, **files: str) -> Path:
    content = {
        "oracle/checks.json": json.dumps({"checks": list(checks)}),
        "oracle/reference.py": REFERENCE,
        "oracle/wrong/half/total.py": "def total(n):\n    return n * n // 2\n",
        "oracle/right/loop/total.py": LOOP,
        **files,
    }
    return make_puzzle(**{"oracle/gold/total.py": GOLD, **content})


def test_mutants_are_small_mistakes_each_made_once_and_compile() -> None:
    body = "    if a < b and not a:\n        raise ValueError('words', 7)\n    return a[1:] or f'{a}x'\n"
    source = f"def f(a, b=1):\n{body}"
    texts = [text for _, text in mutants("f.py", source)]
    assert len(set(texts)) == len(texts) >= 9
    assert source not in texts and all("'words', 7" in text for text in texts if "raise" in text)
    assert any("a <= b" in text for text in texts) and any("a >= b" in text for text in texts)
    assert any(" or (not a)" in text or " or not a" in text for text in texts)
    for text in texts:
        compile(text, "mutant", "exec")


@pytest.mark.parametrize(
    ("name", "text", "other"),
    [
        ("a.json", '{"a": {"b": [1, true]}, "c": "x"}', '"xx"'),
        ("a.sh", 'if [ -z "$1" ]; then\n    exit 2\nfi\nrm -f "$1"\n', 'if [ -n "$1" ]'),
        ("a.conf", "# nothing\nport = 80\nhost = a\n", "port = 81"),
    ],
)
def test_mistakes_are_made_in_other_files_too(name: str, text: str, other: str) -> None:
    made = [mutant for _, mutant in mutants(name, text)]
    assert any(other in mutant for mutant in made) and text not in made
    assert len(set(made)) == len(made)


@pytest.mark.usefixtures("boxes")
async def test_a_puzzle_is_admitted_where_its_checks_hold_against_mistakes(make_puzzle: Callable[..., Path]) -> None:
    check = await check_puzzle(load_puzzle(tried(make_puzzle, DRAWN, NONE)), bar=SMALL)
    assert check.ok, check.problems
    assert check.tried and check.tried.killed == 1.0 and check.tried.mutants >= 7 and check.tried.inputs == 200
    assert check.count("wrong", passed=False) == (1, 1) and check.count("right", passed=True) == (1, 1)


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize(
    ("checks", "files", "problem"),
    [
        ((WEAK, NONE), {"oracle/gold/total.py": "def total(n):\n    return n + n + 0 * n if n else 0\n"}, "mutants"),
        ((WEAK, NONE), {}, "no check draws any"),
        ((DRAWN, NONE), {"oracle/right/odd/total.py": "def total(n):\n    return n\n"}, "right/odd fails"),
        ((DRAWN, NONE), {"oracle/wrong/none/total.py": LOOP}, "wrong/none passes"),
    ],
)
async def test_a_puzzle_whose_checks_are_weak_is_told_so(
    make_puzzle: Callable[..., Path], checks: tuple[Any, ...], files: dict[str, str], problem: str
) -> None:
    check = await check_puzzle(load_puzzle(tried(make_puzzle, *checks, **files)), bar=SMALL)
    assert problem in "; ".join(check.problems)


@pytest.mark.usefixtures("boxes")
async def test_a_mutant_that_is_none_does_not_count_where_the_oracle_says_why(make_puzzle: Callable[..., Path]) -> None:
    gold = "def total(n):\n    return n * (n + 1) // 2 if n > 0 else 0\n"
    same = "total.py: line 2, a comparison: return n * (n + 1) // 2 if n >= 0 else 0"
    folder = tried(make_puzzle, DRAWN, NONE, **{"oracle/gold/total.py": gold})
    check = await check_puzzle(load_puzzle(folder), bar=SMALL)
    assert check.tried and same in check.tried.survivors
    oracle = {"checks": [DRAWN, NONE], "equivalent": {same: "nothing up to 0 is 0 either way"}}
    (folder / "oracle/checks.json").write_text(json.dumps(oracle))
    again = await check_puzzle(load_puzzle(folder), bar=SMALL)
    assert again.tried and again.tried.equivalent == (same,) and same not in again.tried.survivors
    assert again.tried.mutants == check.tried.mutants - 1
    (folder / "oracle/checks.json").write_text(json.dumps({**oracle, "equivalent": {same: ""}}))
    with pytest.raises(PuzzleRefused, match="a reason for each mutant"):
        await check_puzzle(load_puzzle(folder), bar=SMALL)


@pytest.mark.usefixtures("boxes")
async def test_solutions_may_be_told_by_what_is_other_than_in_the_gold(make_puzzle: Callable[..., Path]) -> None:
    told = {"wrong/three": {"total.py": {"n + 1": "n + 3"}}, "right/shifted": {"total.py": {" // 2": " >> 1"}}}
    folder = tried(make_puzzle, DRAWN, NONE, **{"oracle/edits.json": json.dumps(told)})
    check = await check_puzzle(load_puzzle(folder))
    assert check.ok, check.problems
    assert check.count("wrong", passed=False) == (2, 2) and check.count("right", passed=True) == (2, 2)
    for other in ({"wrong/x": {"total.py": {"n": "m"}}}, {"wrong/x": {"lost.py": {"a": "b"}}}):
        (folder / "oracle/edits.json").write_text(json.dumps(other))
        with pytest.raises(PuzzleRefused, match="does not stand once"):
            await check_puzzle(load_puzzle(folder))


@pytest.mark.usefixtures("boxes")
async def test_each_clause_of_a_statement_has_a_refused_wrong_solution(make_puzzle: Callable[..., Path]) -> None:
    clauses = {"sum": {"says": "Repair total", "wrong": ["half", "zero"]}, "place": {"says": ".py", "wrong": ["zero"]}}
    wrong = "def total(n):\n    return n * (n + 1) // 2 if n else 1\n"
    files = {"oracle/clauses.json": json.dumps(clauses), "oracle/wrong/zero/total.py": wrong}
    folder = tried(make_puzzle, DRAWN, NONE, **files)
    check = await check_puzzle(load_puzzle(folder))
    assert check.ok, check.problems
    # How many refused solutions break it, and on how many inputs any of them shows: half is wrong on all drawn ones.
    assert check.clauses == {"sum": (2, 21), "place": (1, 1)}
    clauses["words"] = {"says": "and nothing else", "wrong": ["lost"]}
    (folder / "oracle/clauses.json").write_text(json.dumps(clauses))
    without = await check_puzzle(load_puzzle(folder))
    assert without.problems == (
        "clause words says what the statement does not say",
        "clause words: no wrong solution of it is refused",
    )


@pytest.mark.usefixtures("boxes")
async def test_arguments_must_be_as_they_were_after_a_refusal_too(make_puzzle: Callable[..., Path]) -> None:
    cases = "def cases(random):\n    while True:\n        yield {'args': [[1, 2]], 'raises': 'ValueError'}\n"
    check = {"name": "kept", "kind": "call", "target": "total:total", "by": "cases", "drawn": 1}
    files = {
        "oracle/reference.py": cases,
        "oracle/gold/total.py": "def total(n):\n    raise ValueError\n",
        "oracle/wrong/half/total.py": "def total(n):\n    n.pop()\n    raise ValueError\n",
        "oracle/right/loop/total.py": "def total(n):\n    return int('x')\n",
        "work/total.py": "def total(n):\n    return n\n",
    }
    still = {"name": "still", "kind": "file", "path": "total.py", "matches": "^def total"}
    done = await check_puzzle(load_puzzle(tried(make_puzzle, check, still, **files)))
    assert done.ok, done.problems


@pytest.mark.usefixtures("boxes")
async def test_a_task_is_drawn_anew_for_each_seed_and_the_same_for_one(make_puzzle: Callable[..., Path]) -> None:
    reference = (
        "def draw(random):\n    word = ''.join(random.choices('abcdefgh', k=12))\n"
        "    return {'work': {'hint.txt': word[::-1]}, 'prompt': {'size': str(len(word))}, 'word': word,\n"
        "            'gold': {'total.py': 'def total():\\n    return %r\\n' % word}}\n"
        "def right(random, drawn):\n    while True:\n        yield {'expect': drawn['word']}\n"
    )
    check = {"name": "the word", "kind": "call", "target": "total:total", "by": "right", "drawn": 1}
    still = {"name": "still", "kind": "file", "path": "total.py", "matches": "^def total"}
    meta = {"id": "sum", "title": "x", "kind": "x", "source": "x", "editable": ["total.py"], "drawn": True}
    files = {
        "meta.json": json.dumps(meta),
        "prompt.md": "A word of {{size}} letters.",
        "oracle/reference.py": reference,
        "oracle/checks.json": json.dumps({"checks": [check, still]}),
        "work/total.py": "def total():\n    return ''\n",
    }
    puzzle = load_puzzle(make_puzzle(**{**files, "oracle/gold/total.py": None}))
    one, two, again = [await SealedGrader(seed=seed).draw(puzzle) for seed in (1, 2, 1)]
    assert one.prompt == "A word of 12 letters." and one.digest == two.digest == puzzle.digest
    assert one.files["hint.txt"] != two.files["hint.txt"] and one.files == again.files
    assert (await check_puzzle(puzzle, SealedGrader(seed=5))).ok


@pytest.mark.usefixtures("boxes")
async def test_whoever_just_reaches_the_bar_meets_the_cheats(
    make_puzzle: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four of five are 80 percent, however that is calculated."""
    wrong, gold = (archive_of({"total.py": text.encode()}) for text in ("def total(n): return 0\n", GOLD))
    slips = [*((f"slip {n}", wrong) for n in range(4)), ("no slip", gold)]
    monkeypatch.setattr(checking, "_mutants", lambda *_: iter(slips))
    monkeypatch.setattr(checking, "cheats", lambda *_: iter([("one", wrong)]))
    puzzle = load_puzzle(tried(make_puzzle, WEAK, NONE))
    check = await check_puzzle(puzzle, bar=replace(SMALL, killed=0.8, right=0, inputs=0, early=True))
    assert check.tried is not None and check.tried.killed == 0.8 and check.tried.cheats == 1

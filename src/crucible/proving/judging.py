"""Whether a witness shows a finding: its words, then runs, the cheapest first; what refuses it first ends it."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

from crucible.proving.case import ProofCase, Refused, refuse
from crucible.proving.change import Hunk, ProvenChange, functions, names_any, parsed, within
from crucible.proving.checking import bent, complaint, mended, words
from crucible.proving.oracles import claimed, rests_on
from crucible.proving.records import Around, FailedTest, Oracle, Proof, ProofCheck, Ran, Run, Verdict, Witness

_AROUND: tuple[Around, ...] = ("seed", "zone", "home", "after")
#: Lines between a finding's place and what ran or was changed; hunks that are taken back; near tests that run
#: again; those that a module has before the ones are chosen that name what changed.
_NEAR, _HUNKS, _TESTS, _MANY = 3, 12, 400, 120
#: Seconds in which a test ends on the base that hangs on the head; words of a quotation.
_QUICK, _WORDS = 0.5, 4
#: Errors of a test's own line that say that what it calls is not there yet.
_MISSING = re.compile(r"Import|Module|Attribute|Type|Name")


async def predict(change: ProvenChange, witness: Witness, run: Run) -> ProofCheck:
    """BoxRequest both states for what a call answers, before a test is judged.

    Args:
        change: the change, or one state.
        witness: its ``call``, ``before`` and ``after`` are looked at.
        run: runs what is asked for in a box.

    Raises:
        NoIsolation: there is no box.
    """
    first, _, expression = witness.call.strip().replace("; ", "\n").rpartition("\n")
    if not change.adapter.call or not expression:
        return ProofCheck(check="prediction", ok=True, what="no call to try")
    test = change.adapter.call.format(before=first, expression=expression)
    # What tells the answer is ours; the call alone is looked at.
    asked = test.replace("raise AssertionError(repr(answer))", "assert answer")
    if bad := complaint(change, witness.model_copy(update={"test": asked})):
        return ProofCheck(check="prediction", ok=False, what=bad)
    case = ProofCase(change, witness, (), {}, run)
    trees = dict.fromkeys((change.base, change.head))
    said = [_answer(case.failed(await case.ask(tree, test=test))) for tree in trees]
    told = f"`{expression}` answers {said[0]} on the base and {said[-1]} on the head"
    if len(said) == 2 and said[0] == said[1] and witness.before.strip() != witness.after.strip():
        return ProofCheck(check="prediction", ok=False, what=f"{told}: the change does not change it", runs=2)
    right = not witness.after or _same(said[-1], witness.after.strip().strip("`"))
    told += "" if right else f", and not {witness.after}"
    return ProofCheck(check="prediction", ok=right, what=told, runs=len(said))


def _answer(failure: FailedTest) -> str:
    if failure.type == "AssertionError" and failure.kind == "assertion":
        return failure.message[:300]
    return f"{failure.type}: {failure.message}"[:300]


def _same(answer: str, predicted: str) -> bool:
    try:
        return ast.literal_eval(answer) == ast.literal_eval(predicted)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        kind = answer.partition(":")[0]
        return answer == predicted or (kind.isidentifier() and kind in predicted)


async def judge(
    change: ProvenChange, witness: Witness, places: Sequence[str], fingerprint: str, run: Run, *,
    told: Mapping[str, str] | None = None,
) -> Proof:  # fmt: skip
    """Return what running says of a finding.

    Args:
        change: the change, or one state.
        witness: what a prover gave.
        places: where the finding is, each as ``file``, ``file:line`` or ``file:first-last``.
        fingerprint: of the finding.
        run: runs what is asked for in a box.
        told: what else may be quoted, such as an issue, by its name.

    Raises:
        NoIsolation: there is no box.
    """
    case, checks = ProofCase(change, witness, places, told or {}, run), list[ProofCheck]()
    refused = what = ""
    for name, step in _STEPS.items():
        before = case.runs
        if case.bare and name in _READING:
            continue
        try:
            what = await step(case)
        except Refused as fault:
            refused = str(fault)
        checks.append(ProofCheck(check=name, ok=not refused, what=refused or what, runs=case.runs - before))
        if refused:
            break
    proof = Proof(
        finding=fingerprint, verdict="not reproduced", refused=refused, witness=witness, checks=checks,
        failure=case.failure if case.failure.type else None, runs=case.runs, seconds=round(case.seconds, 3),
    )  # fmt: skip
    if refused:
        return proof
    verdict, oracle = _verdict(case)
    return proof.model_copy(update={
        "verdict": verdict, "oracle": oracle, "origin": case.origin, "words": case.words, "told": claimed(case),
        "culprits": [*map(str, case.culprits)],
    })  # fmt: skip


async def _said(case: ProofCase) -> str:
    """Read the test and the fix."""
    case.made, bad = mended(case.change, case.witness.fix)
    if bad := complaint(case.change, case.witness) or bad or bent(case.change, case.witness, case.made):
        raise Refused(bad)
    return "the test and the fix say nothing that they may not"


async def _fails(case: ProofCase) -> str:
    """See the test fail on the head, for a reason that counts."""
    ran = case.head = case.seen = await case.ask(case.change.head)
    one = next((one for one in case.mine(ran) if one.failure), None)
    _trusted(ran)
    if one is None or (failure := one.failure) is None:
        none = f"no test of it ran to an end: {ran.tail[-300:]}"
        raise Refused("the test passes on the head" if case.passes(ran) else none)
    said = f"{failure.type}: {failure.message[-300:]}"
    at = failure.at.partition(":")[0]
    bad = (
        (one.phase != "call", f"it fails in {one.phase}, before the test itself: {said}"),
        (failure.kind == "exit" and not case.bare, f"it is no failure of what is tested: {said}"),
        (failure.kind == "hang" and at in ("", case.change.place), "it hangs in its own lines"),
        (failure.kind != "hang" and not ran.agrees, "its report and its exit code do not agree"),
    )
    for so, why in bad:
        refuse(so, why)
    case.failure = failure
    return f"fails: {failure.type} at line {failure.line}"


def _trusted(ran: Ran) -> None:
    if ran.audit:
        raise Refused(f"the test may not do this: {ran.audit[0]}")
    if ran.elsewhere:
        raise Refused(f"{ran.elsewhere[0]} was loaded in place of the change's own file")


async def _since(case: ProofCase) -> str:
    """Learn whether the base passes; for one state there is none."""
    case.origin, own = "stood before", case.failure.kind == "own"
    alone = f"its own line fails, not what it tests: {case.failure.type}: {case.failure.message[-300:]}"
    if case.change.single:
        refuse(own, alone)
        return "there is one state"
    ran = await case.ask(case.change.base)
    _trusted(ran)
    failure = case.failed(ran)
    refuse(own and not case.passes(ran), alone)
    if case.passes(ran):
        case.origin = "regression"
        if case.failure.kind == "hang":
            case.seen, case.quick = ran, all(one.seconds < _QUICK for one in case.mine(ran))
    elif failure.kind == "own" and _MISSING.search(failure.type):
        case.origin = "new code"
    elif not case.fails(ran):
        raise Refused(f"on the base it fails in another way: {failure.type} {failure.message[:200]}")
    return "passes" if case.origin == "regression" else f"fails: {case.origin}"


async def _mends(case: ProofCase) -> str:
    """See the test pass with the fix."""
    ran = await case.ask(case.change.head, case.made)
    why = case.failed(ran).message[:200] or ran.tail[-200:]
    refuse(not case.passes(ran), f"with the fix the test does not pass: {why}")
    return "passes with the fix"


async def _keeps(case: ProofCase) -> str:
    """See the near tests, and the examples of pages, pass with the fix as far as they do without."""
    change = case.change
    if not (select := _holding(change)):
        return "there are no near tests"
    was = await case.asked(change.head, {}, select, sealed=False)
    good = {one.name: bool(one.touches) for one in was.tests if one.outcome == "passed"}
    case.near = names = ([*filter(good.get, good)] or [*good])[:_TESTS]
    now = await case.asked(change.head, case.made, names, sealed=False) if good else was
    case.held = [was, now]
    broken = await _broken(case, now, {*good})
    held = any(one.partition("::")[0] in change.altered for one in broken)
    why = min(broken, default="all near tests") + ("; the repository's tests hold the change" if held else "")
    refuse(broken or (good and not now.tests), f"the fix breaks {why}")
    return f"{len(names)} near tests pass with the fix as they did"


def _holding(change: ProvenChange) -> list[str]:
    """Return the files that hold what is right: near tests, and what shows examples."""
    shown = [one.path for one in change.files if ">>> " in (one.head or "")]
    pages = [page.path for page in change.docs if ">>> " in page.text]
    named = [(page, _naming(page.text, change.names)) for page in change.near]
    tests = [f"{page.path}::{name}" for page, names in named for name in names[: _MANY // len(named)]]
    whole = [page.path for page, names in named if not names]
    return [*tests, *whole, *shown, *dict.fromkeys(pages)]


def _naming(text: str, names: Sequence[str]) -> list[str]:
    """Return the tests of a long module that name what changed."""
    tests = {one.replace(".", "::"): node for one, node in functions(text).items() if "test" in one.rpartition(".")[2]}
    found = [one for one, node in tests.items() if not isinstance(node, ast.ClassDef) and "<" not in one]
    return [one for one in found if names_any(names, ast.unparse(tests[one]))] if len(found) > _MANY else []


async def _broken(case: ProofCase, now: Ran, good: set[str]) -> set[str]:
    """Return which good tests a fix breaks; those that seem so run twice more: a busy machine breaks tests too."""
    seeming = {one.name for one in now.tests if one.outcome == "failed"} & good
    less = sorted(seeming)
    runs = [await case.asked(case.change.head, made, less, sealed=False) for made in ({}, case.made) if less]
    found = [{one.name for one in ran.tests if (one.outcome == "failed") == at} for at, ran in enumerate(runs)]
    return set[str].intersection(*found) if found else seeming


async def _bears(case: ProofCase) -> str:
    """Take hunks back one by one; refuse a witness that neither ran the finding's place nor has a culprit by it."""
    case.culprits = await _culprits(case) if case.origin == "regression" else []
    amiss = case.places and not case.bare and not any(_shown(case, *parsed(place)) for place in case.places)
    refuse(amiss, f"nothing at {', '.join(case.places)} runs in the test; show the finding itself")
    runs = any(_ran(case, one.path, one.head_first, one.last, 0) for one in case.change.hunks)
    refuse(case.origin == "new code" and not runs, "the test runs no line that the change brings")
    return f"culprits: {', '.join(map(str, case.culprits)) or 'no single hunk'}"


async def _culprits(case: ProofCase) -> list[Hunk]:
    """Return the hunks without which the test passes; a single one needs no run."""
    change, tried = case.change, case.change.hunks[:_HUNKS]
    if len(tried) <= 1:
        return tried
    ran = await asyncio.gather(*(case.ask(change.head, change.without(hunk)) for hunk in tried))
    return [hunk for hunk, one in zip(tried, ran, strict=True) if case.passes(one)]


def _shown(case: ProofCase, path: str, first: int, last: int) -> bool:
    """Tell whether a place ran, or a culprit lies by it."""
    mine = [hunk for hunk in case.culprits if hunk.path == path]
    near = any(not first or (first - _NEAR <= hunk.last and hunk.head_first <= last + _NEAR) for hunk in mine)
    return near or _ran(case, path, first, last)


def _ran(case: ProofCase, path: str, first: int, last: int, near: int = _NEAR) -> bool:
    """Tell whether a place ran: its function, or a line of it or close to it."""
    text, lines = case.change.text(path), case.seen.lines.get(path, [])
    if not first or not text:
        return any(one.startswith(f"{path}:") and one[-1] != ">" for one in case.seen.ran)
    names = within(text, first, last)
    inner = {f"{path}:{name}" for name in names if not any(one.startswith(f"{name}.") for one in names)}
    if inner:  # the line of a definition runs when its module is imported
        return not inner.isdisjoint(case.seen.ran)
    return any(first - near <= line <= last + near for line in lines)


async def _again(case: ProofCase) -> str:
    """Run the witness in other surroundings: it has to do the same on each state in all of them."""
    change = case.change
    plain = dict[str, str]()
    trees = [(change.head, plain), (change.head, case.made), (change.base, plain)]
    trees = trees[: 2 + (case.origin == "regression")]
    asks: list[tuple[Around, str, dict[str, str]]]
    asks = [(around, tree, files) for around in _AROUND for tree, files in trees]
    found = await asyncio.gather(*(case.ask(tree, files, around=around) for around, tree, files in asks))
    for at, ran in enumerate(found):
        same = case.passes(ran) if at % len(trees) else case.fails(ran)
        refuse(not same, f"it does otherwise in other surroundings ({asks[at][0]})")
    return "the same five times"


async def _quotes(case: ProofCase) -> str:
    """Find the quoted words on the head; they count in a docstring of what ran or a paragraph that names it."""
    quote, change = _plain(case.witness.quote), case.change
    if not quote or quote.lower().strip(".") in ("none", "n/a"):
        return "none are quoted"
    pages = [one for one in change.docs if not {*re.findall(r"\w+", one.text)}.isdisjoint(case.entries)]
    docs = [(place.partition(" ")[0], text) for place, text in case.seen.docs.items()]
    places = [*docs, *((f"{page.path}:{page.line}", page.text) for page in pages), *case.told.items()]
    parts = [(place, _plain(part), at) for place, text in places for at, part in enumerate(re.split(r"\n\s*\n", text))]
    place, text, at = next((one for one in parts if quote in one[1]), ("", "", 0))
    if not place or len(quote.split()) < _WORDS:
        head = [*(one.head or "" for one in change.files), *(page.text for page in (*change.docs, *change.near))]
        if any(quote in _plain(text) for text in head):
            return "the words stand on the head, but are not about what runs here, or too few to say it"
        raise Refused(f"the words “{quote[:80]}” stand nowhere on the head; quote exactly, or say none")
    before, after = text.split(quote, 1)
    first = max((match.end() for match in re.finditer(r"[.!?:] ", before)), default=0)
    rest = re.findall(r"^[^.!?]*(?:[.!?] [^.!?]*)?", after)[0]
    if limit := re.search(words().limits, f"{before[first:]} {rest}"):
        return f"the words leave out what limits them: {limit[0]}"
    if at == first == 0 and any(place == one for one, _ in docs):
        return "the words are a docstring's first sentence, which holds for whatever it answers"
    case.words = place
    return f"the words stand at {place}"


def _plain(text: str) -> str:
    return " ".join(text.split()).strip("\"'`“”")


def _verdict(case: ProofCase) -> tuple[Verdict, Oracle]:
    """Return the verdict, and what it rests on."""
    oracle = rests_on(case)
    if oracle == "none":
        return ("changed" if case.origin == "regression" else "asserted"), oracle
    if case.origin == "stood before" and not case.change.single:
        return "stood before", oracle
    return ("argued" if oracle == "words" else "proved"), oracle


#: In the order of what they cost; the first that refuses ends it.
_STEPS: dict[str, Callable[[ProofCase], Awaitable[str]]] = {
    "words": _said, "head": _fails, "base": _since, "quotation": _quotes, "fix": _mends, "near tests": _keeps,
    "place": _bears, "surroundings": _again,
}  # fmt: skip
#: What a command that answers by its exit code alone cannot tell.
_READING = ("quotation", "near tests")

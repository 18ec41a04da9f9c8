"""Whether a witness shows a finding: its words, then runs, the cheapest first; what refuses it first ends it."""

from __future__ import annotations

import ast
import asyncio
import builtins
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from crucible.behaviour import BEHAVIOUR
from crucible.proving.change import Excerpt, Hunk, ProvenChange, functions, parsed, within
from crucible.proving.checking import annotated, bent, complaint, examples, mended, words
from crucible.proving.laws import as_annotated, broken_law, unmet_none, unread_parameter
from crucible.proving.neighbours import answers, neighbours, swerving
from crucible.proving.posing import Posed, broken, posed, posing
from crucible.proving.records import (
    Around,
    BoxRequest,
    FailedTest,
    Oracle,
    Origin,
    Proof,
    ProofCheck,
    Ran,
    Run,
    TestRun,
    Verdict,
    Witness,
)  # fmt: skip

_AROUND: tuple[Around, ...] = ("seed", "zone", "home", "after")
#: Lines between a finding's place and what ran or was changed; hunks that are taken back; near tests that run
#: again; those that run before a witness; files of tests that run one by one.
_NEAR, _HUNKS, _TESTS, _BEFORE, _FILES = 3, 12, 400, 40, 3
#: Seconds in which a test ends on the base that hangs on the head; words of a quotation.
_QUICK, _WORDS = 0.5, 4
#: Errors of a test's own line that say that what it calls is not there yet.
_ALONE = "its own line fails, not what it tests"
_MISSING, _TEST = re.compile(r"Import|Module|Attribute|Type|Name"), re.compile(r"(^|\.)test\w*$")

_NONE, _NOTHING = FailedTest(kind="own"), Ran(key="", code=0)


class _Refused(Exception):
    """A check refuses a witness; the message is its reason."""


def _refuse(so: object, why: str) -> None:
    """Refuse a witness where something is so."""
    if so:
        raise _Refused(why)


@dataclass
class _Case:
    """One witness before its judge, with what was seen so far.

    ``seen`` is the run that ran to its end; ``held`` are those of the near tests.
    """

    change: ProvenChange
    witness: Witness
    places: Sequence[str]
    told: Mapping[str, str]
    run: Run
    runs: int = 0
    seconds: float = 0
    failure: FailedTest = _NONE
    head: Ran = _NOTHING
    base: Ran = _NOTHING
    seen: Ran = _NOTHING
    quick: bool = True
    origin: Origin = ""
    made: dict[str, str] = field(default_factory=dict[str, str])
    near: list[str] = field(default_factory=list[str])
    held: list[Ran] = field(default_factory=list[Ran])
    culprits: list[Hunk] = field(default_factory=list[Hunk])
    words: str = ""
    examples: list[str] = field(default_factory=list[str])
    posed: str = ""

    @property
    def bare(self) -> bool:
        """Whether all that is known of a run is its exit code."""
        return not self.change.adapter.added

    @property
    def blind(self) -> bool:
        """Whether it is not known what ran."""
        return self.bare and (BEHAVIOUR.before(15) or not self.seen.ran)

    @property
    def early(self) -> tuple[str, ...]:
        """Kinds of failures refused at once: of the test's own line, where there is no base that may pass."""
        return ("own",) if self.change.single or BEHAVIOUR.before(10) else ()

    async def ask(self, tree: str, files: Mapping[str, str] = {}, *, test: str = "", around: Around = "plain") -> Ran:
        """Run the witness, or another test in its place, on a state."""
        before, place = self.near[:_BEFORE] if around == "after" and not self.bare else [], self.change.place
        laid = {**files, place: test or self.witness.test}
        return await self.asked(tree, laid, [*before, place], around, sealed=not before)

    async def asked(
        self, tree: str, files: Mapping[str, str], select: list[str], around: Around = "plain", *, sealed: bool
    ) -> Ran:
        """Run."""
        watch = [one.path for one in self.change.files]
        ask = BoxRequest(tree=tree, files=dict(files), select=select, around=around, watch=watch, sealed=sealed)
        ran = await self.run(ask)
        self.runs, self.seconds = self.runs + 1, self.seconds + ran.seconds
        return ran

    async def kept(self, made: Mapping[str, str], select: list[str]) -> Ran:
        """Run the repository's own tests on the head, each file by itself where all that is told is an exit code."""
        parts = [[one] for one in select[:_FILES]] if self.bare and "{file}" in self.change.command else [select]
        # With a fix it matters whether they pass, and what they call is known: nothing is traced, as after others.
        around: Around = "after" if made and not BEHAVIOUR.before(14) else "plain"
        ran = [await self.asked(self.change.head, made, part, around, sealed=False) for part in parts]
        return ran[0].model_copy(update={"tests": [one for each in ran for one in each.tests]})

    def mine(self, ran: Ran) -> list[TestRun]:
        """Return what came of the witness's own tests."""
        return [one for one in ran.tests if self.bare or one.name.startswith(self.change.place)]

    def failed(self, ran: Ran) -> FailedTest:
        """Return how the first of its tests failed; nothing's failure where none did."""
        return next((one.failure for one in self.mine(ran) if one.failure), _NONE)

    def laws(self, ran: Ran) -> set[str]:
        """Return what the witness's own tests met of laws."""
        return {law for one in self.mine(ran) for law in one.laws}

    def passes(self, ran: Ran) -> bool:
        """Tell whether all tests of the witness pass."""
        mine = self.mine(ran)
        return bool(mine) and ran.agrees and not ran.ended and all(one.outcome == "passed" for one in mine)

    def fails(self, ran: Ran) -> bool:
        """Tell whether the witness fails as it did on the head."""
        same = {"kind", "test", "type", "line"}
        was = self.failure.model_dump(include=same)
        return any(one.failure and one.failure.model_dump(include=same) == was for one in self.mine(ran))

    @property
    def entries(self) -> set[str]:
        """The bare names of what the witness calls, and of what changed and ran."""
        called = {key.partition("(")[0] for key in self.seen.called}
        ran = {key for key in self.seen.ran if key.rpartition(".")[2].rpartition(":")[2] in self.change.names}
        return {re.split(r"[:.]", key)[-1] for key in called | ran} - {"__init__", "<lambda>"}


async def predict(change: ProvenChange, witness: Witness, run: Run) -> ProofCheck:
    """BoxRequest both states for what a call answers, before a test is judged.

    Args:
        change: the change, or one state.
        witness: its ``call``, ``before`` and ``after`` are looked at.
        run: runs what is asked for in a box.

    Raises:
        NoIsolation: there is no box.
    """
    first, expression = _called(witness)
    if not change.adapter.call or not expression:
        return ProofCheck(check="prediction", ok=True, what="no call to try")
    test = _asking(change.adapter.call, first.splitlines(), expression)
    # What tells the answer is ours; the call alone is looked at.
    asked = test.replace("raise AssertionError(repr(answer))", "assert answer")
    if bad := complaint(change, witness.model_copy(update={"test": asked})):
        return ProofCheck(check="prediction", ok=False, what=bad)
    case = _Case(change, witness, (), {}, run)
    trees = dict.fromkeys((change.base, change.head))
    ran = await asyncio.gather(*[case.ask(tree, test=test) for tree in trees])
    said = [*map(_answer, map(case.failed, ran))]
    told = f"`{expression}` answers {said[0]} on the base and {said[-1]} on the head"
    still = len(trees) == 2 and said[0] == said[-1] and witness.before.strip() != witness.after.strip()
    if amiss := _idle(case, ran) or f"{told}: the change does not change it" * still:
        return ProofCheck(check="prediction", ok=False, what=amiss, runs=len(ran))
    right = not witness.after or _same(said[-1], witness.after.strip().strip("`"))
    told += f", and not {witness.after}" * (not right)
    return ProofCheck(check="prediction", ok=right, what=told, runs=len(said))


def _asking(form: str, before: Sequence[str], expression: str) -> str:
    """Return a test that tells what a call answers; what is done before the call is done in the test."""
    setup = [one for one in before if not (BEHAVIOUR.before(16) or re.match(r"(from|import)\b", one))]
    test = form.format(before="\n".join(one for one in before if one not in setup), expression=expression)
    return test.replace("    answer =", "\n".join([*(f"    {one}" for one in setup), "    answer ="]), 1)


def _idle(case: _Case, ran: Sequence[Ran]) -> str:
    """Return why a command runs no test at all, if it does not."""
    none = [] if BEHAVIOUR.before(16) else [one for one in ran if not one.tests]
    return f"“{case.change.command}” runs no test: {_why(case, none[0], -300).strip()}" if none else ""


def _called(witness: Witness) -> tuple[str, str]:
    """Return what a call needs before it, and the call."""
    first, _, expression = witness.call.strip().replace("; ", "\n").rpartition("\n")
    return first, expression


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
    case, checks = _Case(change, witness, places, told or {}, run), list[ProofCheck]()
    refused = what = ""
    for name, step in _STEPS.items():
        before = case.runs
        if case.bare and name in (("quotation", "near tests") if BEHAVIOUR.before(13) else ("quotation", "neighbours")):
            continue
        if name == "neighbours" and (case.origin != "regression" or BEHAVIOUR.before(15)):
            continue
        try:
            what = await step(case)
        except _Refused as fault:
            refused = str(fault)
        checks.append(ProofCheck(check=name, ok=not refused, what=refused or what, runs=case.runs - before))
        if refused:
            break
    if not refused and not case.bare:
        await _shows(case)
        checks += await _posed(case)
    proof = Proof(
        finding=fingerprint, verdict="not reproduced", refused=refused, witness=witness, checks=checks,
        failure=case.failure if case.failure.type else None, runs=case.runs, seconds=round(case.seconds, 3),
    )  # fmt: skip
    if refused:
        return proof
    verdict, oracle = _verdict(case)
    return proof.model_copy(update={
        "verdict": verdict, "oracle": oracle, "origin": case.origin, "words": case.words,
        "told": _law(case) if oracle == "law" else _said_so(case), "culprits": [*map(str, case.culprits)],
    })  # fmt: skip


async def _said(case: _Case) -> str:
    """Read the test and the fix."""
    case.made, bad = mended(case.change, case.witness.fix)
    bad = complaint(case.change, case.witness) or bad or bent(case.change, case.witness, case.made)
    _refuse(bad, bad)
    return "the test and the fix say nothing that they may not"


async def _fails(case: _Case) -> str:
    """See the test fail on the head, for a reason that counts."""
    ran = case.head = case.seen = await case.ask(case.change.head)
    one = next((one for one in case.mine(ran) if one.failure), None)
    _trusted(ran)
    if one is None or (failure := one.failure) is None:
        none = f"no test of it ran to an end: {_why(case, ran, -300)}"
        raise _Refused("the test passes on the head" if case.passes(ran) else none)
    said = f"{failure.type}: {failure.message[-300:]}"
    at = failure.at.partition(":")[0]
    _refuse(one.phase != "call", f"it fails in {one.phase}, before the test itself: {said}")
    _refuse(failure.kind in case.early, f"{_ALONE}: {said}")
    _refuse(failure.kind == "exit" and not case.bare, f"it is no failure of what is tested: {said}")
    _refuse(failure.kind == "hang" and at in ("", case.change.place), "it hangs in its own lines")
    _refuse(failure.kind != "hang" and not ran.agrees, "its report and its exit code do not agree")
    case.failure = failure
    return f"fails: {failure.type} at line {failure.line}"


def _why(case: _Case, ran: Ran, last: int) -> str:
    """Return why a run does not pass: what its test says, or the last characters of its output; that it was ended."""
    failure = case.failed(ran)
    said = failure.message[:200] or ran.tail[last:]
    hangs = ran.ended == "time" and failure.kind != "hang" and not BEHAVIOUR.before(14)
    return f"“{case.change.command}” does not come to an end and prints {said or 'nothing'}" if hangs else said


def _trusted(ran: Ran) -> None:
    _refuse(ran.audit, f"the test may not do this: {next(iter(ran.audit), '')}")
    _refuse(ran.elsewhere, f"{next(iter(ran.elsewhere), '')} was loaded in place of the change's own file")


async def _since(case: _Case) -> str:
    """Learn whether the base passes; for one state there is none."""
    case.origin = "stood before"
    if case.change.single:
        return "there is one state"
    ran = case.base = await case.ask(case.change.base)
    _trusted(ran)
    failure = case.failed(ran)
    lost = case.failure.kind == "own" and not case.passes(ran)
    _refuse(lost, f"{_ALONE}: {case.failure.type}: {case.failure.message[-300:]}")
    if case.passes(ran):
        case.origin = "regression"
        if case.failure.kind == "hang":
            case.seen, case.quick = ran, all(one.seconds < _QUICK for one in case.mine(ran))
    elif failure.kind == "own" and _MISSING.search(failure.type):
        case.origin = "new code"
    elif not case.fails(ran):
        raise _Refused(f"on the base it fails in another way: {failure.type} {failure.message[:200]}")
    return "passes" if case.origin == "regression" else f"fails: {case.origin}"


async def _mends(case: _Case) -> str:
    """See the test pass with the fix."""
    ran = await case.ask(case.change.head, case.made)
    _refuse(not case.passes(ran), f"with the fix the test does not pass: {_why(case, ran, -200)}")
    return "passes with the fix"


async def _keeps(case: _Case) -> str:
    """See the near tests, and the examples of pages, pass with the fix as far as they do without."""
    change = case.change
    if not (select := _holding(change)):
        return "there are no near tests"
    was = await case.kept({}, select)
    good = {one.name: bool(one.touches) for one in was.tests if one.outcome == "passed"}
    names = ([*filter(good.get, good)] or [*good])[:_TESTS]
    case.near = names if BEHAVIOUR.before(14) else _before(case, was, names)
    now = await case.kept(case.made, names) if good else was
    case.held = [was, now]
    broken = await _broken(case, now, {*good})
    _refuse(broken or (good and not now.tests), f"the fix breaks {_which(change, broken)}")
    return f"near tests pass with the fix as they did: {len(names)}"


def _before(case: _Case, was: Ran, names: list[str]) -> list[str]:
    """Return the tests that run before a witness, the quickest first: those of files that the change leaves alone.

    Others may have no such test on the base, and then pytest runs none.
    """
    took, change = {one.name: one.seconds for one in was.tests}, case.change
    altered = {*change.altered, *(one.path for one in change.files)}
    return sorted((one for one in names if one.partition("::")[0] not in altered), key=took.__getitem__)


def _which(change: ProvenChange, broken: set[str]) -> str:
    held = any(one.partition("::")[0] in change.altered for one in broken)
    return min(broken, default="all near tests") + ("; the repository's tests hold the change" if held else "")


def _holding(change: ProvenChange) -> list[str]:
    """Return the files that hold what is right: near tests, and what shows examples."""
    texts = [(one.path, one.head or "") for one in change.files] + [(page.path, page.text) for page in change.docs]
    near = [one for page in change.near for one in page.tests or [page.path]]
    return [*near, *dict.fromkeys(path for path, text in texts if ">>> " in text)]


async def _broken(case: _Case, now: Ran, good: set[str]) -> set[str]:
    """Return which good tests a fix breaks; those that seem so run twice more: a busy machine breaks tests too."""
    less = sorted(_named(now, "failed") & good)
    runs = [await case.kept(made, less) for made in ({}, case.made) if less]
    found = [{one.name for one in ran.tests if (one.outcome == "failed") == at} for at, ran in enumerate(runs)]
    return set[str].intersection(*found) if found else {*less}


async def _beside(case: _Case) -> str:
    """Ask all three states for neighbours of the witness's call: a fix mends more than one input, and no other."""
    change, (before, asked), none = case.change, _called(case.witness), dict[str, str]()
    known = {line for one in change.files for line in f"{one.base}\n{one.head}".splitlines()}
    if not (drawn := neighbours(asked)) or {*"\n".join(case.made.values()).splitlines()} <= known:
        return "none are drawn: the fix says nothing new, or the call no literal"
    tests = [f"def test_{at}():\n    raise AssertionError(repr({one}))" for at, one in enumerate(drawn)]
    test, trees = "\n\n\n".join([before, *tests]), ((change.base, none), (change.head, none), (change.head, case.made))
    base, head, fixed = [answers(await case.ask(tree, files, test=test), drawn) for tree, files in trees]
    name = swerving(base, head, fixed)
    said = f"`{name}` was {base.get(name)}, is {head.get(name)}, and with the fix {fixed.get(name)}"
    _refuse(name, f"the fix is made for the test's own values: {said}; mend the cause")
    return f"the fix does as the base did beside the test's values: {len(drawn)} drawn"


async def _bears(case: _Case) -> str:
    """Take hunks back one by one; refuse a witness that neither ran the finding's place nor has a culprit by it."""
    case.culprits = await _culprits(case) if case.origin == "regression" else []
    amiss = case.places and not case.blind and not any(_shown(case, *parsed(place)) for place in case.places)
    _refuse(amiss, f"nothing at {', '.join(case.places)} runs in the test; show the finding itself")
    runs = any(_ran(case, one.path, one.head_first, one.last, 0) for one in case.change.hunks)
    _refuse(case.origin == "new code" and not (runs or case.blind), "the test runs no line that the change brings")
    return f"culprits: {', '.join(map(str, case.culprits)) or 'no single hunk'}"


async def _culprits(case: _Case) -> list[Hunk]:
    """Return the hunks without which the test passes; a single one needs no run."""
    change, tried = case.change, case.change.hunks[:_HUNKS]
    if len(tried) <= 1:
        return tried
    ran = await asyncio.gather(*(case.ask(change.head, change.without(hunk)) for hunk in tried))
    return [hunk for hunk, one in zip(tried, ran, strict=True) if case.passes(one)]


def _shown(case: _Case, path: str, first: int, last: int) -> bool:
    """Tell whether a place ran, or a culprit lies by it."""
    mine = [hunk for hunk in case.culprits if hunk.path == path]
    near = any(not first or (first - _NEAR <= hunk.last and hunk.head_first <= last + _NEAR) for hunk in mine)
    return near or _ran(case, path, first, last)


def _ran(case: _Case, path: str, first: int, last: int, near: int = _NEAR) -> bool:
    """Tell whether a place ran: its function, or a line of it or close to it."""
    text, lines = case.change.text(path), case.seen.lines.get(path, [])
    if not first or not text:
        return any(one.startswith(f"{path}:") and one[-1] != ">" for one in case.seen.ran)
    names = within(text, first, last)
    inner = {f"{path}:{name}" for name in names if not any(one.startswith(f"{name}.") for one in names)}
    if inner:  # the line of a definition runs when its module is imported
        return not inner.isdisjoint(case.seen.ran)
    return any(first - near <= line <= last + near for line in lines)


async def _again(case: _Case) -> str:
    """Run the witness in other surroundings: it has to do the same on each state in all of them."""
    change, plain = case.change, dict[str, str]()
    trees = [(change.head, plain), (change.head, case.made), (change.base, plain)][: 2 + (case.origin == "regression")]
    asks: list[tuple[Around, str, dict[str, str]]]
    asks = [(around, tree, files) for around in _AROUND for tree, files in trees]
    found = await asyncio.gather(*(case.ask(tree, files, around=around) for around, tree, files in asks))
    for at, ran in enumerate(found):
        same = case.passes(ran) if at % len(trees) else case.fails(ran)
        _refuse(not same, f"it does otherwise in other surroundings ({asks[at][0]})")
    return "the same five times"


async def _quotes(case: _Case) -> str:
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
        nowhere = f"the words “{quote[:80]}” stand nowhere on the head; quote exactly, or say none"
        _refuse(BEHAVIOUR.before(10), nowhere)
        return nowhere
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


def _oracle(case: _Case) -> Oracle:
    """Return what says that it is wrong: a crash or a hang of what stands there, or what is written."""
    if (case.origin == "stood before" or BEHAVIOUR.before(11)) and (kind := _dies(case)):
        return kind
    return "none" if _said_so(case) else "law" if _law(case) else _written(case)


def _dies(case: _Case) -> Oracle | None:
    """Return the crash or the hang of a witness that asks for nothing but what was promised."""
    kind = case.failure.kind
    large = kind == "hang" and re.search(r"\d{5}|\*|e\d", case.witness.test)
    if kind in ("crash", "hang") and case.quick and not (large or _limited(case) or _unpromised(case)) and _below(case):
        return kind
    return None


def _law(case: _Case) -> str:
    """Return the law that the head breaks and the base keeps, which needs neither words nor an example."""
    free = () if BEHAVIOUR.before(12) else ("Any", "object")
    if case.origin != "regression" or BEHAVIOUR.before(11) or _unpromised(case, free):
        return case.posed
    head = next(({*one.laws} for one in case.mine(case.head) if one.failure), set[str]())
    # What a docstring limits, an annotation does not promise; how many or how large is the same on both sides.
    seen = case.seen.model_copy(update={"called": {}}) if _limited(case, "narrows") else case.seen
    laws = (
        broken_law(case.change, case.failure, head, case.laws(case.base)),
        unmet_none(case.change, case.failure, seen) if "slip" in head else "",
        case.posed,
        "" if BEHAVIOUR.before(12) else unread_parameter(case.change, case.witness.test, case.seen.ran),
    )
    return next(filter(None, laws), "")


def _written(case: _Case) -> Oracle:
    """Return what is written that says that it is wrong: an example that the witness repeats, or words."""
    shows = case.failure.kind in (("assertion",) if BEHAVIOUR.before(11) else ("assertion", "crash", "raised"))
    return "example" if shows and case.examples else "words" if case.words else "none"


async def _shows(case: _Case) -> None:
    """Find the examples that the witness repeats: those count that fail where they stand, and pass with the fix."""
    pages = [pair for page in (*case.change.docs, *case.change.near) for pair in _tests_of(page)]
    repeated = _repeated(case)
    case.examples = [place for place, text in (*case.seen.docs.items(), *pages) if repeated & examples(text)]
    if case.examples and not BEHAVIOUR.before(11):
        places = [re.sub(r":\d+ (.*)", r"::.*\\.\1$", place) for place in case.examples]
        select = sorted({place.partition("::")[0] for place in places})
        was, now = [await case.asked(case.change.head, made, select, sealed=False) for made in ({}, case.made)]
        found = sorted(_named(was, "failed") & _named(now, "passed"))
        case.examples = [*filter(re.compile(rf"(?:{'|'.join(places)})(?!\w)").match, found)]


def _tests_of(page: Excerpt) -> list[tuple[str, str]]:
    """Return the tests of a module, as pytest names them, with their text; all of a page, and of a module cut short."""
    found = {} if BEHAVIOUR.before(19) else functions(page.text)
    tests = {"::".join([page.path, *one.split(".")]): ast.unparse(found[one]) for one in found if _TEST.search(one)}
    return [*(tests or {page.path: page.text}).items()]


async def _posed(case: _Case) -> list[ProofCheck]:
    """Pose laws beside a witness: of what it makes and gives, what holds on the base alone."""
    tests = [] if _settled(case) else posed(case.witness.test, case.failure.line)
    if not tests:
        return []
    source, last = posing(tests)
    change, before, none = case.change, case.runs, dict[str, str]()
    states = [(change.base, none), (change.head, case.made), (change.head, none)]
    ran = [await case.ask(tree, files, test=source) for tree, files in states]
    ran.append(await case.ask(change.head, test=source, around="seed"))
    strange = _unpromised(case, ("Any", "object"), untold=True)
    falls = [] if strange else broken(tests, last, [*map(case.mine, ran)])
    found = [one for one in falls if _means(case, one, ran[2])]
    case.posed = words().laws[found[0].law.partition("_")[0]] if found else ""
    what = f"{case.posed}: {'; '.join(found[0].lines.splitlines())}" if found else f"{len(tests)} hold or say nothing"
    return [ProofCheck(check="laws", ok=True, what=what, runs=case.runs - before)]


def _settled(case: _Case) -> bool:
    """Tell whether no law could say more of a witness."""
    return case.origin != "regression" or _written(case) == "example" or bool(_said_so(case)) or BEHAVIOUR.before(16)


def _means(case: _Case, law: Posed, seen: Ran) -> bool:
    """Tell whether a law speaks of things, or of arguments annotated as it asks, and nobody takes that back."""
    row, brought = words().posed[law.law], re.compile(words().asks_kind)
    hooked = any(map(re.compile(row.unless).search, seen.ran))
    if hooked or not row.given:
        return not hooked
    meant = any(map(brought.search, case.change.diff.splitlines())) or _saying(case, row.denied, lines=True)
    return not meant and bool(as_annotated(case.change, seen, rf".*[:.]{law.of}(\.__init__)?", row.given, row.promised))


def _named(ran: Ran, outcome: str) -> set[str]:
    return {one.name for one in ran.tests if one.outcome == outcome}


def _repeated(case: _Case) -> set[tuple[str, str]]:
    """Return call and answer of what the line that fails asserts, where it calls nothing of the test's own."""
    test, nodes = case.witness.test, [*ast.walk(ast.parse(case.witness.test))]
    own = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    own |= {name.rpartition(".")[2] for name in functions(test)}
    found = {one for line in _stated(nodes, case.failure.line) for one in examples(line)}
    return {one for one in found if own.isdisjoint(re.findall(r"\w+", one[0]))}


def _stated(nodes: Sequence[ast.AST], line: int) -> list[str]:
    """Return the assertions and calls of a test that stand at a line."""
    stated = [one for one in nodes if isinstance(one, ast.Assert | ast.Expr)]
    return [ast.unparse(one) for one in stated if one.lineno <= line <= (one.end_lineno or 0)]


def _limited(case: _Case, which: str = "excludes") -> str:
    """Return what ran with another docstring, or one that says what may not be given or that the error comes."""
    error = getattr(builtins, case.failure.type, None)
    bases = [one.__name__ for one in error.__mro__[:-3]] if isinstance(error, type) else [case.failure.type]
    return _documented(case) or _saying(case, rf"{getattr(words(), which)}|\b(?:{'|'.join(map(re.escape, bases))})\b")


def _saying(case: _Case, words: str, *, lines: bool = False) -> str:
    """Return what is written of what ran, and has some words; of pages perhaps the ``lines`` alone that name it."""
    names = "|".join(map(re.escape, case.entries)) or "(?!)"
    naming = re.compile(rf".*\b(?:{names})\b.*" if lines else r"(?s:.*)")
    said = {place: text for place, text in case.seen.docs.items() if re.split("[ .]", place)[-1] in case.entries}
    about = [page for page in case.change.docs if {*re.findall(r"\w+", page.text)} & case.entries]
    pages = {page.path: "\n".join(naming.findall(page.text)) for page in about}
    return next((place for place, text in (said | pages).items() if re.search(words, text)), "")


def _below(case: _Case) -> bool:
    """Tell whether a culprit ran below the call that fails; what stands outside of functions did."""
    last = next((set(one.last) for one in case.mine(case.head) if one.failure), set[str]())
    hunks = case.culprits if case.failure.kind == "crash" else []
    inner = [(one.path, within(case.change.text(one.path), one.head_first, one.last)) for one in hunks]
    return not inner or any(not names or {f"{path}:{name}" for name in names} & last for path, names in inner)


def _unpromised(case: _Case, free: Collection[str] = (), *, untold: bool = False) -> bool:
    """Tell whether an argument has a type that no near test, example or annotation promises; ``free`` promise all, and
    so does what nobody tells of, where that is ``untold``."""
    # What Python itself asks of a thing takes anything.
    anything, called = r"$^" if BEHAVIOUR.before(15) else r"\.__(?!init|new|call)\w+__\(", case.seen.called.items()
    return any(_unmet(case, key, kinds, free, untold=untold) for key, kinds in called if not re.search(anything, key))


def _unmet(case: _Case, key: str, kinds: Sequence[str], free: Collection[str], *, untold: bool) -> bool:
    said = re.findall(r"\w+", annotated(case.change, key)[1])
    shown = [kind for ran in case.held for kind in ran.called.get(key, [])]
    known = {*said, *_promised(said), *re.findall(r"[\w.]+", " ".join(shown))}
    told = (said or shown or not untold) and known.isdisjoint(free)
    return bool(told) and any(_strange(kind, said, known, shown) for kind in kinds)


def _promised(said: Sequence[str]) -> list[str]:
    lately = [] if BEHAVIOUR.before(16) else [f"{one} 16" for one in said]
    return " ".join(words().promised.get(one, "") for one in (*said, *lately)).split()


def _strange(kind: str, said: Sequence[str], known: set[str], shown: Sequence[str]) -> bool:
    """Tell whether neither what an annotation says nor what near tests have shown covers a type."""
    free = any(re.fullmatch(r"_?[A-Z]\w?|_?\w*T", one) for one in said)
    given = {*re.findall(r"^[\w.]+" if free else r"[\w.]+", kind)} - known
    written = [one for one in given if one.rpartition(".")[2] in said and "assay_witness" not in one]
    return len(written) < len(given) or ("NoneType" in kind and "[" in kind and kind not in shown)


def _documented(case: _Case) -> str:
    """Return what ran and has another docstring after the change."""
    for one in case.change.files:
        was, now = functions(one.base or ""), functions(one.head or "")
        both = (name for name in now if name in was and f"{one.path}:{name}" in case.seen.ran)
        if other := next((name for name in both if ast.get_docstring(now[name]) != ast.get_docstring(was[name])), ""):
            return other
    return ""


def _said_so(case: _Case) -> str:
    """Return what the change itself says of what the witness shows."""
    if name := _documented(case):
        return f"its docstring of {name} changes"
    classes = [] if BEHAVIOUR.before(16) else re.findall(r"[:.](\w+)\.__\w+__\(", "\n".join(case.seen.called))
    names = sorted({*case.entries, *classes})
    pairs = ((path, name, lines) for path, lines in case.change.altered.items() for name in names)
    path, name = next((pair[:2] for pair in pairs if re.search(rf"\b{re.escape(pair[1])}\b", pair[2])), ("", ""))
    what = "tests" if case.change.adapter.is_test(path) else "pages"
    return f"its {what} change what is said of {name} ({path})" if path else ""


def _verdict(case: _Case) -> tuple[Verdict, Oracle]:
    """Return the verdict, and what it rests on."""
    oracle = _oracle(case)
    if oracle == "none":
        return ("changed" if case.origin == "regression" else "asserted"), oracle
    if case.origin == "stood before" and not case.change.single:
        return "stood before", oracle
    return ("argued" if oracle == "words" else "proved"), oracle


#: In the order of what they cost; the first that refuses ends it.
_STEPS: dict[str, Callable[[_Case], Awaitable[str]]] = {
    "words": _said, "head": _fails, "base": _since, "quotation": _quotes, "fix": _mends, "near tests": _keeps,
    "neighbours": _beside, "place": _bears, "surroundings": _again,
}  # fmt: skip

"""Whether a witness shows a finding: its words, then runs, the cheapest first; the first that refuses it ends it."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Mapping, Sequence

from crucible.proving.change import Change, Hunk, functions, parsed
from crucible.proving.checking import asserted, bent, complaint, examples, mended
from crucible.proving.neighbours import neighbours
from crucible.proving.records import (
    Around,
    Ask,
    Check,
    Failure,
    Oracle,
    Origin,
    Proof,
    Ran,
    Run,
    TestRun,
    Verdict,
    Witness,
)
from llm_runtime.errors import ConfigurationError

_AROUND: tuple[Around, ...] = ("seed", "zone", "home", "after")
#: Lines between a finding's place and what ran or was changed; hunks that are taken back; tests that run again.
_NEAR, _HUNKS, _TESTS, _BEFORE = 3, 12, 400, 40
#: Seconds in which a test ends on the base that hangs on the head; words of a quotation; characters around it.
_QUICK, _WORDS, _WINDOW = 0.5, 4, 600
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
#: Types that an annotation promises besides those that it names.
_PROMISED = {
    "Iterable": "list tuple set dict generator str", "Sequence": "list tuple str", "Collection": "list tuple set dict str",
    "Iterator": "generator list_iterator", "Mapping": "dict", "Callable": "function builtin_function_or_method type",
    "float": "int", "Real": "int float", "Number": "int float", "Optional": "NoneType", "None": "NoneType", "complex": "float int",
    "List": "list", "Dict": "dict", "Set": "set", "Tuple": "tuple", "Pattern": "Pattern", "AnyStr": "str bytes",
}  # fmt: skip


class _Refused(Exception):
    """A check refuses a witness; the message is its reason."""


class _Case:
    """One witness before its judge, with what was seen so far."""

    def __init__(self, change: Change, witness: Witness, places: Sequence[str], run: Run) -> None:
        self.change, self.witness, self.places, self._run = change, witness, places, run
        self.checks: list[Check] = []
        self.runs, self.seconds = 0, 0.0
        self.failure = Failure(kind="own")
        self.head = Ran(key="", code=0)
        self.made: dict[str, str] = {}
        self.near: list[str] = []
        self.seen, self.promised = self.head, dict[str, list[str]]()
        self.quick = True
        self.origin: Origin = ""
        self.culprits: list[Hunk] = []

    async def ask(
        self, tree: str, files: Mapping[str, str] = {}, *, test: str = "", around: Around = "plain"
    ) -> Ran:
        """Run the witness, or another test in its place, on a state."""
        place = self.change.place
        before = self.near[:_BEFORE] if around == "after" else []
        return await self.asked(Ask(
            tree=tree, files={**files, place: test or self.witness.test}, select=[*before, place], around=around,
            watch=[one.path for one in self.change.files], sealed=not before,
        ))  # fmt: skip

    async def asked(self, ask: Ask) -> Ran:
        """Run."""
        ran = await self._run(ask)
        self.runs += 1
        self.seconds += ran.seconds
        return ran

    def mine(self, ran: Ran) -> list[TestRun]:
        """Return what came of the witness's own tests."""
        place = self.change.place
        known = self.change.adapter.name != "pytest"
        return [one for one in ran.tests if known or one.name.startswith(place)]

    def passes(self, ran: Ran) -> bool:
        """Tell whether all tests of the witness pass."""
        mine = self.mine(ran)
        return bool(mine) and ran.agrees and not ran.ended and all(one.outcome == "passed" for one in mine)

    def fails(self, ran: Ran) -> bool:
        """Tell whether the witness fails as it did on the head."""
        return any(
            (found.kind, found.test, found.type, found.line) == (was.kind, was.test, was.type, was.line)
            for one in self.mine(ran) if (found := one.failure) and (was := self.failure)
        )  # fmt: skip

    def ok(self, check: str, what: str, runs: int = 0) -> None:
        """Note a check that holds."""
        self.checks.append(Check(check=check, ok=True, what=what, runs=runs))

    def refuse(self, check: str, what: str, runs: int = 0) -> _Refused:
        """Note a check that does not, and return it."""
        self.checks.append(Check(check=check, ok=False, what=what, runs=runs))
        return _Refused(what)


async def predict(change: Change, witness: Witness, run: Run) -> Check:
    """Ask both states for what a call answers, before a test is judged.

    Args:
        change: the change, or one state.
        witness: its ``call``, ``before`` and ``after`` are looked at.
        run: runs what is asked for in a box.

    Raises:
        NoIsolation: there is no box.
    """
    template = change.adapter.call
    before, _, expression = witness.call.strip().rpartition("\n")
    if not template or not expression:
        return Check(check="prediction", ok=True, what="no call to try")
    if "\n" not in witness.call.strip() and ";" in expression:
        before, _, expression = (part.replace("; ", "\n") for part in expression.rpartition(";"))
    test = template.format(before=before, expression=expression.strip())
    if bad := complaint(change, witness.model_copy(update={"test": test + "    assert 1\n"})):
        return Check(check="prediction", ok=False, what=bad)
    case = _Case(change, witness, [], run)
    trees = list(dict.fromkeys((change.base, change.head)))
    said = [_answer(await case.ask(tree, test=test)) for tree in trees]
    told = f"`{expression.strip()}` answers {said[0]} on the base and {said[-1]} on the head"
    if len(trees) == 2 and said[0] == said[1] and witness.before.strip() != witness.after.strip():
        return Check(check="prediction", ok=False, what=f"{told}: the change does not change it", runs=2)
    if witness.after and not _same(said[-1], witness.after):
        return Check(check="prediction", ok=False, what=f"{told}, and not {witness.after}", runs=len(trees))
    return Check(check="prediction", ok=True, what=told, runs=len(trees))


def _answer(ran: Ran) -> str:
    failure = next((one.failure for one in ran.tests if one.failure), None)
    if failure is None:
        return "nothing"
    if failure.kind == "assertion" and failure.type == "AssertionError":
        return failure.message.split("\nassert")[0][:300]
    return f"{failure.type}: {failure.message}"[:300]


def _same(answer: str, predicted: str) -> bool:
    plain = predicted.strip().strip("`").strip()
    try:
        return ast.literal_eval(answer) == ast.literal_eval(plain)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        kind = answer.partition(":")[0]
        return answer == plain or (kind.isidentifier() and kind in plain)


async def judge(
    change: Change, witness: Witness, places: Sequence[str], fingerprint: str, run: Run, *,
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
    case = _Case(change, witness, places, run)
    verdict: Verdict = "not reproduced"
    oracle: Oracle = "none"
    words = said = refused = ""
    try:
        await _fails_on_head(case)
        await _since(case)
        words = _words(case, told or {})
        await _mends(case)
        await _bears(case)
        await _around(case)
        await _bends_nothing(case)
        oracle = _oracle(case)
        said = _said_so(case)
        verdict, oracle = _verdict(case, oracle, words)
    except _Refused as fault:
        refused = str(fault)
    return Proof(
        finding=fingerprint, verdict=verdict, origin=case.origin if not refused else "", oracle=oracle, words=words if not refused else "",
        told=said, culprits=[str(one) for one in case.culprits], refused=refused, witness=witness,
        failure=case.failure if case.failure.test else None, checks=case.checks, runs=case.runs,
        seconds=round(case.seconds, 3),
    )  # fmt: skip


async def _fails_on_head(case: _Case) -> None:
    change = case.change
    if bad := complaint(change, case.witness):
        raise case.refuse("words of the test", bad)
    try:
        case.made = mended(change, case.witness.fix)
    except ConfigurationError as fault:
        raise case.refuse("words of the fix", str(fault)) from None
    if bad := bent(change, case.witness, case.made):
        raise case.refuse("words of the fix", bad)
    case.ok("words", "the test and the fix say nothing that they may not")
    ran = case.head = await case.ask(change.head)
    failed = [one for one in case.mine(ran) if one.failure]
    if ran.audit:
        raise case.refuse("what it opens", f"the test may not do this: {ran.audit[0]}", 1)
    if ran.elsewhere:
        raise case.refuse("what was loaded", f"{ran.elsewhere[0]} was loaded in place of the change's own file", 1)
    if not failed and (ran.ended or not ran.agrees):
        raise case.refuse("head", f"the run came to no end that can be read: {ran.ended or ran.tail[-300:]}", 1)
    if not failed:
        raise case.refuse(
            "head",
            "the test passes on the head" if case.passes(ran) else f"no test of it ran: {ran.tail[-300:]}",
            1,
        )
    one, failure = failed[0], failed[0].failure
    assert failure is not None
    why = {
        "exit": f"it ends by {failure.type}, which is no failure of what is tested",
        "own": f"its own line fails, not what it tests: {failure.type}: {failure.message[:200]}",
    }.get(failure.kind, "")
    if one.phase != "call":
        why = f"it fails in {one.phase}, before the test itself: {failure.type}: {failure.message[-300:]}"
    elif failure.kind == "hang" and (not failure.at or failure.at.startswith(change.place)):
        why = "it hangs in its own lines, not in the repository's"
    elif failure.kind != "hang" and not ran.agrees:
        why = "its report and its exit code do not agree"
    if change.adapter.name == "any" and failure.kind == "exit":
        why = ""
    if why:
        raise case.refuse("head", why, 1)
    case.failure, case.seen = failure, ran
    case.ok("head", f"fails on the head: {failure.type} at line {failure.line}", 1)


async def _since(case: _Case) -> None:
    """Learn whether the base passes; for one state there is none."""
    if case.change.single:
        case.origin = "stood before"
        return
    ran = await case.ask(case.change.base)
    failed = next((one for one in case.mine(ran) if one.failure), None)
    if ran.audit:
        raise case.refuse("what it opens", f"the test may not do this: {ran.audit[0]}", 1)
    if case.passes(ran):
        case.origin = "regression"
        if case.failure.kind == "hang":
            case.seen, case.quick = ran, all(one.seconds < _QUICK for one in case.mine(ran))
    elif (
        failed
        and failed.failure
        and failed.failure.kind == "own"
        and re.search("Import|Module|Attribute|Type", failed.failure.type)
    ):
        case.origin = "new code"
    elif case.fails(ran):
        case.origin = "stood before"
    else:
        what = failed.failure.message[:200] if failed and failed.failure else ran.tail[-200:]
        raise case.refuse("base", f"on the base it fails in another way: {what}", 1)
    case.ok("base", {"regression": "passes on the base"}.get(case.origin, f"fails on the base: {case.origin}"), 1)


async def _mends(case: _Case) -> None:
    change, before = case.change, case.runs
    fixed = await case.ask(change.head, case.made)
    if not case.passes(fixed):
        bad = next((one.failure.message[:200] for one in fixed.tests if one.failure), fixed.tail[-200:])
        raise case.refuse("fix", f"with the fix the test does not pass: {bad}", 1)
    watch = [one.path for one in change.files]
    beside = [one.path for one in change.files if one.path.endswith(".py") and ">>> " in (one.head or "")]
    beside += dict.fromkeys(page.path for page in change.docs if ">>> " in page.text)
    select = [*(page.path for page in change.near), *beside]
    if select and change.adapter.name != "any":
        near = await case.asked(Ask(tree=change.head, select=select, watch=watch, sealed=False))
        good = [one for one in near.tests if one.outcome == "passed"]
        names = [one.name for one in good if one.touches][:_TESTS] or [one.name for one in good][:_TESTS]
        case.near, case.promised = names if change.adapter.name == "pytest" else select, dict(near.called)
        if change.adapter.name != "pytest":
            names = select if good else []
        if names:
            after = await case.asked(
                Ask(tree=change.head, files=case.made, select=names, watch=watch, sealed=False)
            )
            for key, kinds in after.called.items():
                case.promised[key] = [*case.promised.get(key, []), *kinds]
            broken = {one.name for one in after.tests if one.outcome == "failed"} & {one.name for one in good}
            if broken or not after.tests:
                own = (
                    "; the repository's tests hold the change"
                    if any(one.partition("::")[0] in change.altered for one in broken)
                    else ""
                )
                raise case.refuse(
                    "near tests", f"the fix breaks {min(broken, default='all near tests')}{own}", case.runs - before
                )
        case.ok("fix", f"passes with the fix, and so do {len(names)} near tests", case.runs - before)
    else:
        case.ok("fix", "passes with the fix; there are no near tests", case.runs - before)


async def _bears(case: _Case) -> None:
    """Refuse a witness that says nothing of the finding's place: neither ran it, nor lies a culprit beside it."""
    change, before = case.change, case.runs
    if case.origin == "regression":
        if len(change.hunks) == 1:
            case.culprits = list(change.hunks)
        else:
            back = [(hunk, change.without(hunk)) for hunk in change.hunks[:_HUNKS]]
            found = await asyncio.gather(*(case.ask(change.head, made) for _, made in back))
            case.culprits = [hunk for (hunk, _), ran in zip(back, found, strict=True) if case.passes(ran)]
        case.ok("culprits", ", ".join(map(str, case.culprits)) or "no single hunk", case.runs - before)
    if change.adapter.name == "any":
        return
    beside = [one for one in map(parsed, case.places) if any(_beside(hunk, one) for hunk in case.culprits)]
    if case.places and not beside and not any(_ran(case, *one) for one in map(parsed, case.places)):
        raise case.refuse("place", f"nothing at {', '.join(case.places)} runs in the test; show the finding itself")
    runs = [hunk for hunk in change.hunks if _ran(case, hunk.path, hunk.head_first, hunk.last, near=0)]
    if case.origin == "new code" and not runs:
        raise case.refuse("place", "the test runs no line that the change brings")
    case.ok("place", "it is about the finding's place")


def _beside(hunk: Hunk, place: tuple[str, int, int]) -> bool:
    path, first, last = place
    return hunk.path == path and (not first or (first - _NEAR <= hunk.last and hunk.head_first <= last + _NEAR))


def _ran(case: _Case, path: str, first: int, last: int, near: int = _NEAR) -> bool:
    """Tell whether a place ran: its function, or a line of it or close to it."""
    text = case.change.text(path)
    if not first or text is None:
        return any(one.startswith(f"{path}:") for one in case.seen.ran) or bool(case.seen.lines.get(path))
    inner = {
        f"{path}:{name}" for name, (begin, end, _) in functions(text).items() if begin <= last and first <= end
    }
    lines = case.seen.lines.get(path, [])
    return bool(inner.intersection(case.seen.ran)) or any(first - near <= line <= last + near for line in lines)


async def _around(case: _Case) -> None:
    """Run the witness in other surroundings: it has to do the same on each state in all of them."""
    before, head = case.runs, case.change.head
    trees = [(head, {}), (head, case.made), (case.change.base, {})][: 3 if case.origin == "regression" else 2]
    asks = [(around, case.ask(tree, files, around=around)) for around in _AROUND for tree, files in trees]
    found = await asyncio.gather(*(ask for _, ask in asks))
    for at, ((around, _), ran) in enumerate(zip(asks, found, strict=True)):
        if not (case.passes(ran) if at % len(trees) else case.fails(ran)):
            raise case.refuse(
                "surroundings", f"it does otherwise in other surroundings ({around})", case.runs - before
            )
    case.ok("surroundings", "the same five times", case.runs - before)


async def _bends_nothing(case: _Case) -> None:
    """Refuse a fix that mends the witness's input alone: beside it, it answers as the base, or fails no more."""
    change = case.change
    test = neighbours(case.witness.test) if change.adapter.name == "pytest" else ""
    if not test or case.failure.kind == "hang":
        return
    left = change.base if case.origin == "regression" else change.head
    was, now = await asyncio.gather(case.ask(left, test=test), case.ask(change.head, case.made, test=test))
    told = {one.name: _told(one) for one in case.mine(now)}
    for one in case.mine(was):
        mine, other = _told(one), told.get(one.name, ("", ""))
        same = (
            mine == other
            if case.origin == "regression"
            else (other[0] != case.failure.type or mine[0] != other[0] or other[0] == "AssertionError")
        )
        if not same:
            what = f"beside the witness's input the fix answers {other[1][:150]} where {mine[1][:150]} is right"
            raise case.refuse("neighbours", f"{what}; mend all inputs, or take back the hunk", 2)
    case.ok("neighbours", f"the fix answers as it should on {len(told)} inputs beside it", 2)


def _told(one: TestRun) -> tuple[str, str]:
    failure = one.failure
    return (failure.type, _ADDRESS.sub("", failure.message)) if failure else ("", one.outcome)


def _entries(case: _Case) -> set[str]:
    """Return the bare names of what the witness calls, and of what changed and ran."""
    ran = {one.rpartition(":")[2].rpartition(".")[2] for one in case.seen.ran}
    called = {one.partition("(")[0].rpartition(":")[2].rpartition(".")[2] for one in case.seen.called}
    known = set(case.change.names)
    return ((ran & known) | called if case.change.adapter.name == "pytest" else known) - {"__init__", "<lambda>"}


def _words(case: _Case, told: Mapping[str, str]) -> str:
    """Return where the quoted words stand on the head and bear on what ran; empty where none are quoted."""
    quote = _plain(case.witness.quote)
    if not quote or quote.lower().strip(".") in ("none", "n/a"):
        return ""
    if len(quote.split()) < _WORDS:
        raise case.refuse(
            "words", f"“{quote}” is too short to say what is right; quote at least {_WORDS} words, or none"
        )
    for name, text in told.items():
        if quote in _plain(text):
            return name
    for place, text in case.seen.docs.items():
        if quote in _plain(text):
            return place.partition(" ")[0]
    for one in case.change.files:
        for name, (first, _, text) in functions(one.head or "").items():
            ran = any(f"{key}.".startswith(f"{one.path}:{name}.") for key in case.seen.ran)
            if quote in _plain(text) and ran:
                return f"{one.path}:{first}"
    names = re.compile(r"\b(?:" + "|".join(map(re.escape, _entries(case) or {"(?!)"})) + r")\b")
    nowhere = True
    for page in (*case.change.docs, *case.change.near):
        plain = _plain(page.text)
        for match in re.finditer(re.escape(quote), plain):
            nowhere = False
            if names.search(plain[max(0, match.start() - _WINDOW) : match.end() + _WINDOW]):
                first = re.escape(quote.split()[0])
                line = next((n for n, text in enumerate(page.text.split("\n")) if re.search(first, text)), 0)
                return f"{page.path}:{page.line + line}"
    why = "stand nowhere on the head; quote exactly what is there" if nowhere else "are not about what runs here"
    raise case.refuse("words", f"the words “{quote[:80]}” {why}, or say none")


def _plain(text: str) -> str:
    return " ".join(text.split()).strip("\"'`“”")


def _oracle(case: _Case) -> Oracle:
    """Return what says, without prose, that it is wrong: a crash or a hang on what was promised, or an example."""
    change, failure = case.change, case.failure
    if failure.kind in ("crash", "hang") and not _documented(case) and case.quick:
        if change.adapter.name == "go" or (
            change.adapter.name == "pytest" and not (bad := _unpromised(case)) and _within(case)
        ):
            return "crash" if failure.kind == "crash" else "hang"
        if change.adapter.name == "pytest":
            case.checks.append(
                Check(
                    check="argument types",
                    ok=False,
                    what=bad or "what changed did not run below the call that fails",
                )
            )
    if change.adapter.name != "pytest":
        return "none"
    lines = ast.parse(case.witness.test)
    failing = [
        one
        for one in ast.walk(lines)
        if isinstance(one, ast.stmt) and one.lineno <= failure.line <= (one.end_lineno or 0)
    ]
    mine = (
        asserted(ast.unparse(failing[-1]))
        if failing and failure.kind in ("assertion", "crash", "raised")
        else set[tuple[str, str]]()
    )
    texts = [*case.seen.docs.values(), *(page.text for page in (*change.docs, *change.near))]
    return "example" if any(mine & examples(text) for text in texts if mine) else "none"


def _within(case: _Case) -> bool:
    """Tell whether a culprit ran below the call that fails; what stands outside of functions did."""
    last = next((set(one.last) for one in case.mine(case.head) if one.failure and one.last), set[str]())
    if case.origin != "regression" or not case.culprits or case.failure.kind == "hang":
        return True
    for hunk in case.culprits:
        spans = functions(case.change.text(hunk.path) or "").items()
        inner = {
            f"{hunk.path}:{name}"
            for name, (first, end, _) in spans
            if first <= hunk.last and hunk.head_first <= end
        }
        if not inner or inner & last:
            return True
    return False


def _unpromised(case: _Case) -> str:
    """Return which argument has a type that no near test, example or annotation promises; empty for none."""
    for key, kinds in case.seen.called.items():
        known = {name for kind in case.promised.get(key, []) for name in re.findall(r"\w+", kind)}
        path, _, rest = key.partition(":")
        name, _, parameter = rest[:-1].partition("(")
        known |= _annotated(case.change.text(path) or "", name, parameter)
        for kind in kinds:
            if (
                missing := set(re.findall(r"\w+", kind))
                - known
                - {"NoneType"}
                - ({"any"} if "*" in known else set[str]())
            ):
                if "TypeVar" not in known or missing & set(re.findall(r"^\w+", kind)):
                    return f"nobody promised that {name} takes {kind} as {parameter}"
    return ""


def _annotated(text: str, name: str, parameter: str) -> set[str]:
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name.rpartition(".")[2]:
            given = node.args
            for one in (*given.posonlyargs, *given.args, *given.kwonlyargs):
                if one.arg == parameter and one.annotation:
                    words = re.findall(r"\w+", ast.unparse(one.annotation))
                    more = " ".join(_PROMISED.get(word, "") for word in words).split()
                    free = ["TypeVar"] if any(re.fullmatch(r"_?[A-Z]\w?|_?\w*T", word) for word in words) else []
                    return {*words, *more, *free}
    return set()


def _documented(case: _Case) -> str:
    """Return what ran and has another docstring after the change."""
    for one in case.change.files:
        was = functions(one.base or "")
        for name, (_, _, text) in functions(one.head or "").items():
            if name in was and was[name][2] != text and f"{one.path}:{name}" in case.seen.ran:
                return name
    return ""


def _said_so(case: _Case) -> str:
    """Return what the change itself says of what the witness shows."""
    if name := _documented(case):
        return f"its docstring of {name} changes"
    for path, lines in case.change.altered.items():
        if found := sorted(name for name in _entries(case) if re.search(rf"\b{re.escape(name)}\b", lines)):
            what = "its tests change" if case.change.adapter.is_test(path) else "its pages change"
            return f"{what} what is said of {found[0]} ({path})"
    return ""


def _verdict(case: _Case, oracle: Oracle, words: str) -> tuple[Verdict, Oracle]:
    stood = case.origin == "stood before" and not case.change.single
    if case.change.adapter.name == "any":
        return ("changed" if case.origin == "regression" else "asserted"), "none"
    if oracle != "none":
        return ("stood before" if stood else "proved"), oracle
    if words:
        return ("stood before" if stood else "argued"), "words"
    return ("changed" if case.origin == "regression" else "asserted"), "none"

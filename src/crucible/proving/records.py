"""What is said and found of a proof: a witness from a model, what a box answered, and the verdict."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from crucible.behaviour import BEHAVIOUR

Verdict: TypeAlias = Literal["proved", "argued", "changed", "stood before", "asserted", "not reproduced"]
Oracle: TypeAlias = Literal["crash", "hang", "example", "law", "words", "none"]
Origin: TypeAlias = Literal["regression", "stood before", "new code", ""]
Around: TypeAlias = Literal["plain", "seed", "zone", "home", "after"]
_Text: TypeAlias = Annotated[str, Field(max_length=20_000)]


class FrozenRecord(BaseModel):
    """Plain data of a proof; what a later release adds to it is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Edit(FrozenRecord):
    """One replacement in a file of the change: ``old`` stands there exactly once."""

    path: _Text
    old: _Text
    new: _Text

    def on(self, text: str) -> tuple[int, str]:
        """Return how often the old text stands in a file, and the file mended; lines end as all of the file do."""
        ends = {*re.findall(r"\r?\n", text)}
        one = ends.pop() if len(ends) == 1 and not BEHAVIOUR.before(18) else r"\g<0>"
        old, new = (re.sub(r"\r?\n", one, said) for said in (self.old, self.new))
        return text.count(old), text.replace(old, new)


class Witness(FrozenRecord):
    """What a prover says shows a finding.

    Args:
        call: an expression, with what it needs imported before it, that shows it; empty where none was given.
        before: what it answers on the base, as the prover predicts; likewise ``after`` on the head.
        quote: words of the repository that say what is right, exactly; empty for none.
        test: the source of a test file.
        fix: the smallest mending, in files of the change.
        says: what it shows, in one sentence.
    """

    call: _Text = ""
    before: _Text = ""
    after: _Text = ""
    quote: _Text = ""
    test: _Text
    fix: list[Edit] = Field(default=[], max_length=20)
    says: _Text = ""


class FailedTest(FrozenRecord):
    """How a test failed. Two failures are the same where test, type and line are, whatever the message.

    Args:
        kind: its own assertion; an error of the repository's that no line of it raises (``crash``) or that one
            does; a hang; an end of the process or of the system's; an error of the test's own line (``own``).
        at: the innermost place in the repository, as ``file:line``; empty for none.
    """

    kind: Literal["assertion", "crash", "raised", "hang", "exit", "own"]
    test: str = ""
    type: str = ""
    line: int = 0
    at: str = ""
    message: _Text = ""


class BoxRequest(FrozenRecord):
    """One run in a box, by all that decides its answer.

    Args:
        tree: the state, by the id of its tree in Git.
        files: texts that are laid over it, by their paths: a witness, a fix, a hunk taken back.
        select: files that are run, or tests by the names that a run before gave them; empty for all there are.
        around: the surroundings.
        watch: files of which it is told which lines run.
        seconds: how long one test may take.
        sealed: starts no process and opens no socket; for witnesses, not for a repository's own tests.
    """

    tree: str
    files: dict[str, str] = {}
    select: list[str] = []
    around: Around = "plain"
    watch: list[str] = []
    seconds: float = 5
    sealed: bool = True

    @property
    def key(self) -> str:
        """SHA-256 of it, in hex."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class TestRun(FrozenRecord):
    """What came of one test.

    Args:
        phase: where it ended: ``collect``, ``setup``, ``call`` or ``teardown``.
        touches: functions of the watched files that it ran, as ``path:name``.
        last: likewise, of all files, what ran below its last line that called into the repository.
        laws: what it says of laws that stand without words: a law of Python's that it breaks, errors of the
            repository's own that it was answered (``error NAME``), ``slip`` where no line raised what failed it.
    """

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    phase: str = "call"
    seconds: float = 0
    touches: list[str] = []
    last: list[str] = []
    laws: list[str] = []
    failure: FailedTest | None = None


class Ran(FrozenRecord):
    """What one run in a box answered.

    Args:
        key: of what was asked.
        code: how the command ended.
        ended: the limit that ended it, as ``time``; empty for none.
        agrees: its report is whole, and says what its exit code says.
        lines: of watched files, those that ran.
        ran: functions of the repository that ran, as ``path:name``.
        called: types of arguments that tests gave to them, by ``path:name(parameter)``.
        docs: docstrings of functions that ran, by ``path:line name``.
        audit: what a witness did that it may not, as the box saw it.
        elsewhere: modules of watched files that were not loaded from the state.
        tail: the end of what it printed.
    """

    key: str
    code: int
    ended: str = ""
    agrees: bool = True
    tests: list[TestRun] = []
    lines: dict[str, list[int]] = {}
    ran: list[str] = []
    called: dict[str, list[str]] = {}
    docs: dict[str, str] = {}
    audit: list[str] = []
    elsewhere: list[str] = []
    tail: _Text = ""
    seconds: float = 0


Run: TypeAlias = Callable[[BoxRequest], Awaitable[Ran]]


class ProofCheck(FrozenRecord):
    """One thing that was looked at: what was seen, and how many runs it took."""

    check: str
    ok: bool
    what: _Text = ""
    runs: int = 0


class Proof(FrozenRecord):
    """What running says of a finding.

    Args:
        finding: its fingerprint.
        verdict: what was shown.
        origin: since when it is so.
        oracle: what says that it is wrong.
        words: where the quoted words stand, as ``file:line``.
        told: what the change itself says of it, as "its tests change test_x"; the law, where that is its oracle;
            empty for nothing.
        culprits: hunks of the change without which the test passes, as ``file:first-last``.
        refused: the reason of the check that refused it; empty where none did.
        runs: how many programs were run in boxes.
        seconds: that took.
    """

    finding: str
    verdict: Verdict
    origin: Origin = ""
    oracle: Oracle = "none"
    words: str = ""
    told: str = ""
    culprits: list[str] = []
    refused: str = ""
    witness: Witness | None = None
    failure: FailedTest | None = None
    checks: list[ProofCheck] = []
    runs: int = 0
    seconds: float = 0

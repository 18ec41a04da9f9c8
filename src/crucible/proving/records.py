"""What is said and found of a proof: a witness from a model, what a box answered, and the verdict."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Verdict: TypeAlias = Literal["proved", "argued", "changed", "stood before", "asserted", "not reproduced"]
Oracle: TypeAlias = Literal["crash", "hang", "example", "words", "none"]
Origin: TypeAlias = Literal["regression", "stood before", "new code", ""]
_Text: TypeAlias = Annotated[str, Field(max_length=20_000)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Edit(_Record):
    """One replacement in a file of the change: ``old`` stands there exactly once."""

    path: _Text
    old: _Text
    new: _Text


class Witness(_Record):
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


class Failure(_Record):
    """How a test failed. Two failures are the same where test, type and line are, whatever the message.

    Args:
        at: the innermost place in the repository, as ``file:line``; empty for none.
    """

    kind: Literal["assertion", "crash", "raised", "hang", "exit"]
    test: str = ""
    type: str = ""
    line: int = 0
    at: str = ""
    message: _Text = ""


class Check(_Record):
    """One thing that was looked at: what was seen, and how many runs it took."""

    check: str
    ok: bool
    what: _Text = ""
    runs: int = 0


class Proof(_Record):
    """What running says of a finding.

    Args:
        finding: its fingerprint.
        verdict: what was shown.
        origin: since when it is so.
        oracle: what says that it is wrong.
        words: where the quoted words stand, as ``file:line``.
        told: what the change itself says of it, as "its tests change test_x"; empty for nothing.
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
    failure: Failure | None = None
    checks: list[Check] = []
    runs: int = 0
    seconds: float = 0

"""One witness before its judge, with what was seen of it so far."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crucible.proving.change import Hunk, ProvenChange
from crucible.proving.records import Around, BoxRequest, FailedTest, Origin, Ran, Run, TestRun, Witness

#: Near tests that run before a witness in one of its surroundings.
_BEFORE = 40
_NOTHING = Ran(key="", code=0)
NO_FAILURE = FailedTest(kind="own")


class Refused(Exception):
    """A check refuses a witness; the message is its reason."""


def refuse(so: object, why: str) -> None:
    """Refuse a witness where something is so."""
    if so:
        raise Refused(why)


@dataclass
class ProofCase:
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
    failure: FailedTest = NO_FAILURE
    head: Ran = _NOTHING
    seen: Ran = _NOTHING
    quick: bool = True
    origin: Origin = ""
    made: dict[str, str] = field(default_factory=dict[str, str])
    near: list[str] = field(default_factory=list[str])
    held: list[Ran] = field(default_factory=list[Ran])
    culprits: list[Hunk] = field(default_factory=list[Hunk])
    words: str = ""

    @property
    def bare(self) -> bool:
        """Whether all that is known of a run is its exit code."""
        return not self.change.adapter.added

    async def ask(self, tree: str, files: Mapping[str, str] = {}, *, test: str = "", around: Around = "plain") -> Ran:
        """Run the witness, or another test in its place, on a state."""
        before, place = self.near[:_BEFORE] if around == "after" else [], self.change.place
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

    def mine(self, ran: Ran) -> list[TestRun]:
        """Return what came of the witness's own tests."""
        return [one for one in ran.tests if self.bare or one.name.startswith(self.change.place)]

    def failed(self, ran: Ran) -> FailedTest:
        """Return how the first of its tests failed; nothing's failure where none did."""
        return next((one.failure for one in self.mine(ran) if one.failure), NO_FAILURE)

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
        # A method with a name of Python's own is asked for by its class.
        return {
            re.findall(r"\w+", key.rpartition(":")[2].partition(".__")[0])[-1] for key in called | ran if key[-1] != ">"
        }

    @property
    def culpable(self) -> Sequence[Hunk]:
        """The hunks that can be why it fails: its culprits, or all where no single one is."""
        return self.culprits or (self.change.hunks if self.origin == "regression" else ())

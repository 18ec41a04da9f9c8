"""A council of records at work: positions, an attack on them, answers to it, for two to five loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from crucible.asking import Asker
from crucible.behaviour import first_records
from crucible.briefing import Briefing
from crucible.config import EngineConfig, LoopGrammar
from crucible.events import Concluded, Critiqued, LoopEnded, LoopStarted, NotAttacked, SeatAnswered
from crucible.executor.council import Phase, left_out, require_voices, side_by_side, silent
from crucible.forms import Forms, SeatRecord
from crucible.objections import Holding, Objections, RaisedObjection
from crucible.panel import EARLIER, CouncilMember, seated
from crucible.records import ClaimRecord, DraftRecord, PositionRecord, RevisionRecord
from crucible.rendering import draft_page, position_page
from crucible.reviewing import borne_out
from crucible.schemas import TriageOutput
from crucible.transcript import CouncilTranscript
from llm_runtime.errors import CallError, ReplyFiltered, RequestRefused, StructuredOutputError
from llm_runtime.events import Emit
from llm_runtime.messages import CallLabel
from llm_runtime.normal import normal

EARLIEST_EXIT = 2
#: A critique's calls are counted from here on for each step of a loop.
_STEP = 30


class Deliberation:
    """One run's deliberation.

    Args:
        triage: how it is configured.
        briefing: what all calls begin with.
        asker: gets records from models.
        config: who is asked where a seat has no usable hint, and the panel in place of triage's hints.
        transcript: hears what ``emit`` does, and is what the council knows of itself.
        emit: hears what was said, in seat order whoever answered first.
    """

    def __init__(
        self, triage: TriageOutput, briefing: Briefing, asker: Asker, config: EngineConfig,
        transcript: CouncilTranscript, emit: Emit,
    ) -> None:  # fmt: skip
        self._triage, self._asker, self._emit, self.briefing = triage, asker, emit, briefing
        self.transcript = transcript
        self.members, self._critic = seated(triage, briefing.seed, config.default_model, config.models)
        self.objections = Objections({one.label: one.letter for one in self.members})
        self.held: dict[str, Holding] = {}
        self.forms = Forms(briefing, self.members, self._critic, self.held, self.objections)
        #: The highest number that a claim of each seat has had: an id is given once.
        self._numbers: dict[str, int] = {}
        self._last: Holding | None = None
        #: Each id that a claim has had.
        self.claims: set[str] = set()

    async def run(self) -> None:
        """Deliberate, until the loops are used up or every conclusion stands.

        Raises:
            CouncilFailed: fewer than two seats still answer.
        """
        triage, grammar = self._triage, self._triage.loop_grammar
        if self.briefing.challenge:
            await self._challenged(self.briefing.challenge)
        loops = {LoopGrammar.SEQUENTIAL: self._passed_on, LoopGrammar.DEBATE: self._debated}
        for loop in range(1, triage.loop_count + 1):
            self._emit(LoopStarted(loop=loop, of=triage.loop_count, grammar=grammar.value))
            before = dict(self.held)
            await loops.get(grammar, self._at_once)(loop)
            changed = self._compare(loop, before)
            self._emit(LoopEnded(loop=loop, delta_detected=changed, judged=loop >= EARLIEST_EXIT and bool(before)))
            settled = self.briefing.settles and not self.objections.unsettled
            stands = not changed and triage.allow_early_exit and loop >= EARLIEST_EXIT
            if self.transcript.not_attacked or settled or stands:
                break

    async def _challenged(self, sentence: str) -> None:
        """Have the critic attack a sentence of the answer before; all are shown its objections from the start."""
        claim = ClaimRecord(id=f"{EARLIER}1", text=sentence)
        held = Holding("", (claim,), sentence, "", position_page(sentence, [claim]), "earlier")
        step = 1 if first_records() else 0
        await self._attack(1, [held], step, CallLabel("crucible", "critique", self._critic.label))
        shown = self.objections.shown(self.objections, None)
        self.briefing = replace(self.briefing, attacked=shown or "(it found nothing to object to)")
        self.forms = Forms(self.briefing, self.members, self._critic, self.held, self.objections)

    async def _at_once(self, loop: int) -> None:
        """PARALLEL: all seats, then the critic."""
        await self._heard(loop, self.members, "position")
        await self._attack(loop, list(self.held.values()))

    async def _debated(self, loop: int) -> None:
        """DEBATE: positions once; then the critic, and whom it attacks defends. Critique follows defence (CR28)."""
        if loop == 1:
            await self._heard(loop, self.members, "position")
        owners = {one.owner for one in await self._attack(loop, list(self.held.values()))}
        await self._heard(loop, [one for one in self.members if one.label in owners], "defence")

    async def _passed_on(self, loop: int) -> None:
        """SEQUENTIAL: one draft goes from seat to seat, attacked after each."""
        step = 0
        for member in self.members:
            before = self._last
            await self._heard(loop, [member], "draft")
            if self._last is not before and self._last is not None:
                step += 1
                await self._attack(loop, [self._last], step)

    async def _heard(self, loop: int, members: Sequence[CouncilMember], phase: Phase) -> None:
        """Ask seats side by side; who fails, its spare included, keeps what it held and is left out of the loop."""

        await side_by_side(
            members,
            lambda member: self._answer(loop, member, phase),
            lambda member, answer: self._settle(loop, member, phase, answer),
            lambda member, fault: self._emit(left_out(loop, member.label, member.role, fault)),
        )
        if phase != "defence":  # who does not defend keeps its position
            require_voices(self.transcript.loops[loop], len(self.members))

    async def _answer(self, loop: int, member: CouncilMember, phase: Phase) -> SeatRecord:
        label = CallLabel("crucible", phase, member.label, loop)
        if phase == "draft":
            form = self.forms.draft(member, label, self.objections.unsettled, self._last)
        else:
            form = self.forms.position(member, label, self.objections.against(member.label))
        return await self._asker.record(form, label, member.models)

    def _settle(self, loop: int, member: CouncilMember, phase: Phase, got: SeatRecord) -> None:
        """Take in what a seat answered: its claims get ids, its words about objections their place."""
        source = f"{loop}/{member.label}/{phase}"
        if isinstance(got, DraftRecord):
            now = Holding(member.label, (), got.conclusion, "", draft_page(got.text, got.answers), source)
        else:
            claims = self._numbered(member, got.claims)
            answers = got.answers if isinstance(got, RevisionRecord) else []
            page = position_page(got.conclusion, claims, got.confidence, answers)
            now = Holding(member.label, claims, got.conclusion, got.confidence, page, source)
        if not isinstance(got, PositionRecord):
            self.objections.answer(got.answers, now)
        if phase == "draft":
            self.held.pop(member.label, None)  # the last one is the latest
        self.held[member.label] = self._last = now
        self._emit(SeatAnswered(loop=loop, seat=member.label, role=member.role.value, kind=phase, text=now.text))

    def _numbered(self, member: CouncilMember, claims: Iterable[ClaimRecord]) -> tuple[ClaimRecord, ...]:
        """Return claims with ids: that of the claim which one continues, else the next number."""
        known = {one.id for one in self.held[member.label].claims} if member.label in self.held else set[str]()
        listed: list[ClaimRecord] = []
        for claim in claims:
            id = claim.id.strip(" .").upper()
            if id not in known:
                self._numbers[member.label] = self._numbers.get(member.label, 0) + 1
                id = f"{member.letter}{self._numbers[member.label]}"
            known.discard(id)
            self.claims.add(id)
            one = claim.model_copy(update={"id": id})
            listed.append(one if first_records() else borne_out(one, self.briefing.material))
        return tuple(listed)

    async def _attack(
        self, loop: int, held: Sequence[Holding], step: int = 1, own: CallLabel | None = None
    ) -> list[RaisedObjection]:
        """Have the critic attack; without an objection to anything that stands there, nothing was attacked.

        Raises:
            CouncilFailed: the critic and its spare gave no answer.
        """
        label = own or CallLabel("crucible", "critique", self._critic.label, loop, 1 + (step - 1) * _STEP)
        try:
            critique = await self._asker.record(self.forms.critique(label, held), label, self._critic.models)
        except (StructuredOutputError, RequestRefused, ReplyFiltered) as fault:
            if own is None:
                self._emit(NotAttacked(loop=loop, reason=str(fault)[:500]))
            return []
        except CallError as fault:
            raise silent(self._critic.label, loop, fault) from fault
        raised, text = self.objections.enter(critique.objections, critique.earlier, held, loop, step)
        text = text or "Nothing that was said before is left to attack."
        targets = list(dict.fromkeys(one.owner for one in raised if one.owner))
        self._emit(Critiqued(loop=loop, step=step, seat=self._critic.label, text=text, targets=targets))
        return raised

    def _compare(self, loop: int, before: dict[str, Holding]) -> bool:
        """Tell whether a conclusion changed, and say what each seat concludes; code compares, for seats copy."""
        changed = before.keys() != self.held.keys()
        for member in self.members:
            then, now = before.get(member.label), self.held.get(member.label)
            if then is None or now is None:
                continue
            same = normal(then.conclusion).text == normal(now.conclusion).text
            changed = changed or not same
            if loop >= EARLIEST_EXIT:
                role, held = member.role.value, (then.conclusion, now.conclusion)
                self._emit(Concluded(loop=loop, role=role, before=held[0], after=held[1], same=same))
        return changed

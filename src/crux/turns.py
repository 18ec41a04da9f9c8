"""One turn of one persona: stock is taken, words are spoken, phrases checked, the position tracked.

CX6, CX9, CX11, CX12, CX23.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypedDict, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from crux.anchors import anchors
from crux.anonymity import Panel
from crux.behaviour import BEHAVIOUR
from crux.budget import TURN_TOKENS
from crux.claims.judge import Judge, NoJudge
from crux.config import DebateConfig, Task
from crux.earning import weighed
from crux.ending import OVER, tried
from crux.events import ConcessionEntered, TurnTaken
from crux.history import View
from crux.phrases import PhraseReport, check_phrases
from crux.portrait import system_prompt
from crux.positions import concession, read_position
from crux.requests import Questioner, request
from crux.results import CoarseType, Stance, TrackedStance
from crux.retrieval.grounding import Grounding, Grounds
from crux.transcript import SeatedTranscript
from llm_runtime.errors import CallError, LlmRuntimeError, StructuredOutputError
from llm_runtime.events import Emit
from llm_runtime.http.shape import reason_of
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct
from llm_runtime.structured import Structured, ask
from llm_runtime.tasks import gather
from llm_runtime.tokens import estimate_tokens

MAX_UTTERANCE = 4_000


# The docstrings of answer models are part of the JSON schema that a model gets: to change one breaks recordings.
class TurnState(BaseModel):
    """What a speaker states before speaking (decision 6)."""

    model_config = ConfigDict(frozen=True)

    position: str = Field(max_length=4_000)
    challenge: str = Field(default="", max_length=4_000)
    updated: bool = False
    because: str = Field(default="", max_length=4_000)
    claim_ref: str = Field(default="", max_length=80)


class TurnAnswer(BaseModel):
    """A turn."""

    model_config = ConfigDict(frozen=True)

    state: TurnState
    utterance: str = Field(min_length=1, max_length=20_000)


class Core(BaseModel):
    """What a side holds to be the core of a disagreement: a yes/no question and its coarse type (decision 4)."""

    model_config = ConfigDict(frozen=True)

    statement: str = Field(min_length=3, max_length=1_000)
    type: CoarseType


class ConvergenceAnswer(TurnAnswer):
    """The turn of a room's third phase."""

    core: Core


A = TypeVar("A", bound=TurnAnswer)


class TurnPlan(Struct, Generic[A]):
    """What is asked of a persona.

    Args:
        persona: who speaks.
        task: the row of the model table.
        label: where the call stands.
        answer: the form of the answer.
        question: id of the question that ``state.position`` answers.
        claim: what beliefs and passages are sought for.
        about: the questions at hand; where nothing on record bears on any of them, the persona has to say so.
        context: the fenced blocks and the ids of the messages in them, within the given tokens.
        prompt: the task's prompt, where it is not called as the task.
        tokens: of context and beliefs together.
        fills: further values of the task's prompt.
        steelmanned: a shift is permitted in this turn.
        most_words: of what is said; what is longer is asked for once again, shorter, and then stands; 0 for any.
    """

    persona: str
    task: Task
    label: CallLabel
    answer: type[A]
    question: str
    claim: str
    about: tuple[str, ...]
    context: Callable[[View, int], tuple[list[str], list[str]]]
    prompt: str = ""
    tokens: int = TURN_TOKENS
    fills: dict[str, str] = field(default_factory=dict[str, str])
    steelmanned: bool = True
    most_words: int = 0


class Spoken(Struct, Generic[A]):
    """A turn that was taken, not yet posted: it has no id."""

    plan: TurnPlan[A]
    answer: A
    grounds: Grounds
    visible: tuple[str, ...]
    phrases: PhraseReport
    regenerated: bool

    def text(self, panel: Panel) -> str:
        """Return what was said, on one line, with real names in place of letters."""
        return panel.named_text(" ".join(self.answer.utterance.split())[:MAX_UTTERANCE])


class Skipped(Struct):
    """A turn that gave nothing usable; one line that says why."""

    persona: str
    error: str


class TurnSaid(TypedDict):
    """What a message has of a turn, wherever it is posted."""

    id: str
    persona: str
    text: str
    stance: Stance | None
    timestamp: int
    flags: tuple[str, ...]


@dataclass
class DebateContext:
    """What all steps of a debate share: the model function, the settings and the record.

    Args:
        generate: the model.
        config: the debate's.
        transcript: what was said, the fold over what is emitted.
        groundings: by persona, what the person wrote.
        emit: the house events; the transcript hears them.
    """

    generate: Generate
    config: DebateConfig
    transcript: SeatedTranscript
    groundings: dict[str, Grounding]
    emit: Emit

    def __post_init__(self) -> None:
        transcript, panel = self.transcript, self.transcript.panel
        self.asking = Questioner(self.generate, self.config.models, transcript.seed)
        self.judge = (NoJudge if BEHAVIOUR.before(2) else Judge)(self.asking, on_trial=False)
        self._systems = {
            persona.name: system_prompt(persona, panel.seat(persona.name), panel.mask(persona.name), transcript.seed)
            for persona in panel.personas
        }

    async def prepare(self, plan: TurnPlan[A]) -> tuple[Request, Grounds, tuple[str, ...]]:
        """Return the request of a turn, what it is grounded in, and the ids of the messages it shows."""
        transcript, config = self.transcript, self.config
        persona = transcript.panel.by_name[plan.persona]
        fence = Fence(transcript.seed, plan.label)
        grounds = await self.groundings[plan.persona].grounds(plan.claim, config.beliefs_per_turn, plan.about)
        held = fence("BELIEFS ON RECORD", anchors(persona, grounds, transcript.panel.mask(plan.persona)))
        blocks, visible = plan.context(View(transcript, plan.persona, fence), plan.tokens - estimate_tokens(held) - 2)
        text = load_prompt("crux", "turn").render(
            context="\n\n".join([*blocks, held]),
            task=load_prompt("crux", plan.prompt or plan.task).render(**plan.fills),
            form=load_prompt("crux", "form_convergence" if plan.answer is ConvergenceAnswer else "form").text,
        )
        return request(config.models, plan.task, plan.label, text, self._systems[plan.persona]), grounds, tuple(visible)

    async def speak(self, plan: TurnPlan[A]) -> Spoken[A] | Skipped:
        """Take a turn: one repair and one retry for an answer that is none, one more try for a polite phrase.

        Raises:
            BudgetExceeded, DeadlineExceeded, AuthenticationFailed, PaymentRequired: the debate is over.
            LlmRuntimeError: a replay or the store failed.
        """
        asked, grounds, visible = await self.prepare(plan)
        voice = self.transcript.panel.by_name[plan.persona].contract.voice
        try:
            first = await self._ask(asked, plan)
            report = check_phrases(first.value.utterance, voice.forbidden_phrases)
            if not report.polite:
                return Spoken(plan, first.value, grounds, visible, report, regenerated=False)
            answer = await self._once_more(asked, first, plan.answer, report)
        except OVER:
            raise
        except (CallError, StructuredOutputError) as fault:
            return Skipped(plan.persona, f"{plan.persona}, {plan.label.phase}: the turn is skipped: {reason_of(fault)}")
        report = check_phrases(answer.utterance, voice.forbidden_phrases)
        return Spoken(plan, answer, grounds, visible, report, regenerated=True)

    async def side_by_side(self, plans: Sequence[TurnPlan[A]]) -> list[Spoken[A] | Skipped | LlmRuntimeError]:
        """Take turns that do not see each other, in the order of ``plans``.

        When the money or the time runs out in the middle, those that were answered are kept: they are paid for.
        """

        async def one(plan: TurnPlan[A]) -> tuple[Spoken[A] | Skipped | LlmRuntimeError]:
            # In a tuple: a refusal that is returned bare ends the others, answered ones too.
            try:
                return (await self.speak(plan),)
            except OVER as over:
                return (over,)

        return [turn for (turn,) in await gather(one(plan) for plan in plans)]

    async def track(self, spoken: Spoken[A]) -> TurnSaid:
        """Enter a turn under the next id: its stance, its concession, its flags."""
        plan, state, message = spoken.plan, spoken.answer.state, self.transcript.next_id()
        named = self.transcript.panel.named_text
        label, position = read_position(state.position)
        flags = [f"polite phrase: {phrase}" for phrase in spoken.phrases.polite]
        stance = None
        if label is None:
            flags.append("no stance stated")
        else:
            stance = TrackedStance(
                persona=plan.persona,
                message=message,
                question=plan.question,
                stance=label,
                position=named(position),
                challenge=named(state.challenge),
                updated=state.updated,
                because=named(state.because),
                claim_ref=state.claim_ref.strip().strip("[]"),
            )
            flags += await self._ledger(stance, spoken)
            if spoken.grounds.outside:
                flags.append("outside the corpus" if label == "NONE" else "answers where nothing is on record")
        taken = TurnTaken(
            message=message,
            persona=plan.persona,
            stance=stance,
            beliefs=[node.id for node in spoken.grounds.beliefs],
            chunks=[chunk.id for chunk in spoken.grounds.chunks],
            flags=flags,
            regenerated=spoken.regenerated,
        )
        self.emit(taken)
        text, now = spoken.text(self.transcript.panel), self.transcript.clock()
        return TurnSaid(id=message, persona=plan.persona, text=text, stance=label, timestamp=now, flags=tuple(flags))

    async def _ledger(self, stance: TrackedStance, spoken: Spoken[A]) -> list[str]:
        transcript, plan = self.transcript, spoken.plan
        before = transcript.last_stance(plan.persona, plan.question) or transcript.last_stance(plan.persona)
        claims = transcript.claims(plan.persona, spoken.visible, steelmanned=plan.steelmanned)
        entry = concession(before, stance, claims)
        if entry is not None and before is not None and entry.earned and not BEHAVIOUR.before(2):
            near = self.groundings[plan.persona].nearest_beliefs(stance.because, 3)
            held = [] if BEHAVIOUR.before(3) else [node.concept for node in near]
            entry = await weighed(self.asking, transcript, entry, before, stance, claims, held)
        flags: list[str] = []
        if entry is not None:
            self.emit(ConcessionEntered(entry=entry))
            if not entry.earned:
                flags.append(f"unearned concession: {entry.reason}")
        if spoken.phrases.agreeing and (entry is None or not entry.earned):
            flags.append("agrees without a named reason")
        return flags

    async def _ask(self, asked: Request, plan: TurnPlan[A]) -> Structured[A]:
        complained = False

        def check(answer: A) -> str | None:
            # Worth one more try and no more: the turn is usable without a label, and flagged; or at its length.
            nonlocal complained
            words = len(answer.utterance.split())
            if complained:
                return None
            complained = True
            if read_position(answer.state.position)[0] is None:
                return "state.position must begin with YES, NO, NUANCED or NONE"
            if plan.most_words and words > plan.most_words:
                return f"the utterance has {words} words; say the same in {plan.most_words} or fewer"
            return None

        return await ask(self.generate, asked, plan.answer, check=check)

    async def _once_more(self, asked: Request, first: Structured[A], model: type[A], report: PhraseReport) -> A:
        """Regenerate a turn once, with the reason; the first stands where the second is unusable (CX12)."""
        label = dataclasses.replace(asked.label, attempt=asked.label.attempt + first.attempts)
        complaint = load_prompt("crux", "politeness").render(phrases="; ".join(f'"{p}"' for p in report.polite[:6]))
        turns = (Message("assistant", first.reply.text[:20_000]), Message("user", complaint))
        again = dataclasses.replace(asked, messages=(*asked.messages, *turns), label=label)
        return (await tried(ask(self.generate, again, model, reasks=0)) or first).value

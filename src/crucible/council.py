"""The form of records: a council whose seats, critic and synthesis answer by schema (CR26).

::

    council = Council(EngineConfig(openrouter_api_key="sk-or-..."))
    result = await council.run("Should we migrate?", material=[Attachment(name="load.md", text="...")])
    print(result.final_response)
    print(headline(result.ledger))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from pydantic import Field

from crucible.asking import Asker
from crucible.briefing import Briefing
from crucible.concluding import answered, formed, reviewed
from crucible.config import ComplexityDomain, CouncilRole, LoopGrammar, RedTeamFlavor
from crucible.deliberation import Deliberation
from crucible.effects import effects
from crucible.engine import CouncilEngine, session_id
from crucible.events import LedgerWritten, ShortCircuited, Synthesised, Triaged
from crucible.ledger import Ledger
from crucible.material import Dossier, outline
from crucible.openrouter.client import OpenRouterClient
from crucible.records import FindingRecord, Rest
from crucible.routing import opened, routed
from crucible.schemas import CouncilSeat, ExecutorResult, TriageOutput
from crucible.transcript import CouncilTranscript
from crucible.triage.agent import Inquiry, TriageAgent
from llm_runtime.errors import StructuredOutputError
from llm_runtime.events import Emit, tee
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import load_prompt

_SYNTHESIS, _ANSWER = CallLabel("crucible", "synthesis"), CallLabel("crucible", "answer")
#: Of an earlier council, so much is told to triage, in characters.
_FOR_TRIAGE = 4_000
#: A review needs no triage: its question does not vary, and these are the sides to read a change from.
REVIEWERS = ("correctness", "safety", "fit")
Kind: TypeAlias = Literal["answer", "review"]


class CouncilResult(ExecutorResult):
    """What a council of records returns, beside what the brief's form does.

    Args:
        ledger: its objections, and what the answer does with each attacked claim.
        attacked: whether a critic found something to attack; an answer that nobody attacked passes no gate.
        claims: what the answer claims, and the claims of seats that it rests on.
        findings: of a review, the gravest first; ``None`` where none was wanted.
        looked_at: of a review: what was examined.
        route: who answered in place of a council, where one was asked for only in doubt.
    """

    ledger: Ledger = Field(default_factory=Ledger)
    attacked: bool = True
    claims: list[Rest] = []
    findings: list[FindingRecord] | None = None
    looked_at: str = ""
    route: str = Field(default="", exclude_if=lambda held: not held)


class Council(CouncilEngine):
    """A council of records. Each run is independent; one council may serve many, in any event loop.

    ``delta_strategy`` of its configuration is not used: conclusions are records, and code compares them.
    """

    async def run(
        self, query: str, *, material: Dossier = (), earlier: str = "", challenge: str = "", form: str = "",
        kind: Kind = "answer", route: bool = False, context: Mapping[str, Any] | None = None,
    ) -> CouncilResult:  # fmt: skip
        """Put ``query`` to a council.

        Args:
            query: anything, up to 1 MiB of UTF-8.
            material: what every seat reads and may quote.
            earlier: what an earlier council was asked and answered.
            challenge: a sentence of that answer, which a critic attacks before the seats speak.
            form: how the answer is to be written, in words; triage decides where it is empty.
            kind: ``"review"`` wants findings with places in the material in place of an answer in prose.
            route: have three short answers first; a council sits only where they leave something open.
            context: data for triage only, as JSON.

        Raises:
            InputError: query or context cannot be used; nothing was asked.
            TriageError: triage gave no usable configuration.
            CouncilFailed: the critic or too many seats gave no answer.
            CallError, StructuredOutputError: triage or synthesis failed.
            BudgetExceeded, DeadlineExceeded: as the model function raises them; the run ends at once.
        """
        seed, config, transcript = self._seed(), self._config, CouncilTranscript()
        told = _for_triage(material, earlier, context)
        inquiry, emit = Inquiry.read(query, told), tee(self._emit, transcript.apply)
        briefing = Briefing(query, tuple(material), earlier, form, seed, challenge)
        async with self._model() as generate:
            client = OpenRouterClient(generate, emit, session_id(seed))
            asker = Asker(client, emit)
            way = await routed(asker, briefing, config, emit) if route else None
            if way:
                if not way.doubts:
                    return self._unattacked(way.answers[way.best].answer, emit, "three that agree")
                inquiry = Inquiry.read(query, {**(told or {}), "in_doubt": way.doubts})
            agent = TriageAgent(client, self._config, seed, emit)
            triage = reviewers() if kind == "review" else await agent.configure(inquiry)
            briefing = replace(briefing, query=query if kind == "review" else triage.reconstructed_query)
            if way:
                triage, briefing = opened(triage, briefing, way)
            emit(Triaged(triage=triage))
            if not challenge and triage.is_simple:
                return await self._alone(client, triage, briefing, emit)
            deliberation = Deliberation(triage, briefing, asker, config, transcript, emit)
            await deliberation.run()
            return await self._concluded(asker, triage, deliberation, query, kind, emit)

    async def _alone(
        self, client: OpenRouterClient, triage: TriageOutput, briefing: Briefing, emit: Emit
    ) -> CouncilResult:
        """Let one model answer what is simple; nobody attacks that, and nobody claims that somebody did."""
        emit(ShortCircuited())
        system = Message("system", f"{triage.synthesis_instruction}\n\n{formed(briefing.form)}".strip())
        turns = [system, briefing.turn("", triage.reconstructed_query)]
        text = await client.call_openrouter(self._config.default_model, turns, label=_ANSWER)
        return self._unattacked(text, emit)

    def _unattacked(self, text: str, emit: Emit, route: str = "") -> CouncilResult:
        emit(Synthesised(text=text, loops_executed=0, early_exit=True))
        return CouncilResult(
            final_response=text,
            loops_executed=0,
            early_exit=True,
            reasoning_trace=[] if self._config.observability else None,
            attacked=False,
            route=route,
        )

    async def _concluded(
        self, asker: Asker, triage: TriageOutput, deliberation: Deliberation, query: str, kind: Kind, emit: Emit
    ) -> CouncilResult:
        models, seed, told = self._models(), deliberation.briefing.seed, deliberation.transcript
        conclude = reviewed if kind == "review" else answered
        try:
            text, data = await conclude(asker, models, triage, deliberation, query)
        except StructuredOutputError as fault:
            raise StructuredOutputError(f"nobody answered: {fault}", fault.raw) from fault
        loops = len(told.loops)
        early = loops < triage.loop_count
        emit(Synthesised(text=text, loops_executed=loops, early_exit=early))
        seen, note = await effects(asker, models, deliberation.objections, text, seed)
        ledger = deliberation.objections.ledger(seen, note)
        emit(LedgerWritten(ledger=ledger.model_dump(mode="json", exclude_defaults=True)))
        result = CouncilResult(
            final_response=text,
            loops_executed=loops,
            early_exit=early,
            reasoning_trace=told.trace(kept=True) if self._config.observability else None,
            ledger=ledger,
            attacked=not told.not_attacked,
        )
        return result.model_copy(update=data)

    def _models(self) -> tuple[tuple[str, ...], ...]:
        first = self._config.default_model
        return (first,), (next((other for other in self._config.models if other != first), first),)


def reviewers() -> TriageOutput:
    """Return how a review sits: three readers of different sides, two loops, a critic of reasons."""
    roles = (CouncilRole.DOMAIN_EXPERT, CouncilRole.PRAGMATIST, CouncilRole.SYNTHESIZER)
    seats = [
        CouncilSeat(role=role, system_prompt=load_prompt("crucible", f"reader_{name}").render())
        for role, name in zip(roles, REVIEWERS, strict=True)
    ]
    critic = CouncilSeat(role=CouncilRole.RED_TEAM, system_prompt="Attack what the readers claim.")
    return TriageOutput(
        reconstructed_query="Review what is attached.",
        complexity=ComplexityDomain.COMPLICATED,
        council=[*seats, critic],
        loop_grammar=LoopGrammar.PARALLEL,
        loop_count=2,
        red_team_flavor=RedTeamFlavor.LOGICAL,
        synthesis_instruction="Findings with their places, the gravest first.",
    )


def _for_triage(material: Dossier, earlier: str, context: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what triage is told beside the question: the user's context, and how the attachments begin."""
    told: dict[str, Any] = dict(context or {})
    if material:
        told["attachments"] = outline(material)
        told["about_attachments"] = "Every seat is shown all that is attached; you see how each begins."
    if earlier:
        told["follows"] = earlier[:_FOR_TRIAGE]
    return told or None

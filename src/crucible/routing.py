"""A council as large as the doubt: three short answers first; where they agree and a check finds nothing, no more.

Source: self-consistency as a sign of doubt, after Wang et al. 2022, arXiv:2203.11171; CR30 in the decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice

from crucible.asking import Asker, Wanted, lines_of
from crucible.behaviour import BEHAVIOUR
from crucible.briefing import Briefing
from crucible.config import CouncilRole, EngineConfig, LoopGrammar
from crucible.events import Routed
from crucible.executor.council import reason_of, side_by_side
from crucible.records import Doubts, Short
from crucible.schemas import TriageOutput
from llm_runtime.errors import CallError, StructuredOutputError
from llm_runtime.events import Emit
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt

LETTERS = "ABC"
#: Who is asked where nobody chose: the newest of three vendors' lines, as far as there are keys.
FAMILIES = ("~anthropic/claude-sonnet-latest", "~openai/gpt-latest", "~google/gemini-pro-latest")
_CHECK = CallLabel("crucible", "check")


def three_families(panel: Sequence[str]) -> list[str]:
    """Return three models of a panel, of as many vendors as there are.

    >>> three_families(["a/one", "a/two", "b/one"])
    ['a/one', 'b/one', 'a/two']
    """
    vendors = {one.partition("/")[0]: one for one in reversed(panel)}
    return [*islice(cycle(dict.fromkeys([*[one for one in panel if one in vendors.values()], *panel])), len(LETTERS))]


async def routed(asker: Asker, briefing: Briefing, config: EngineConfig, emit: Emit) -> Routed:
    """Have a question answered three times, and the answers compared and checked.

    Raises:
        BudgetExceeded, DeadlineExceeded: as the model function raises them.
    """
    answers, silent = dict[str, Short](), list[str]()
    usual = config.default_model == EngineConfig.model_fields["default_model"].default and not BEHAVIOUR.before(10)
    models = three_families(config.models or (FAMILIES if usual else [config.default_model]))

    async def ask(letter: str) -> Short:
        label, at = CallLabel("crucible", "short", letter), LETTERS.index(letter)
        question = Fence(briefing.seed, label)("QUESTION", briefing.query)
        turn = briefing.turn(letter, load_prompt("crucible", "short").render(query=question))
        wanted = Wanted(Short, lambda bound: [turn], words=_in_words, shown=question)
        return await asker.record(wanted, label, [(models[at],), (models[at - 1],)])

    await side_by_side(LETTERS, ask, answers.__setitem__, lambda at, fault: silent.append(reason_of(fault)))
    found = Doubts(agree=False, faults=silent) if silent else await _checked(asker, briefing, answers, models)
    doubts = [*found.differences, *found.faults] or ([] if found.agree else ["whether they agree"])
    way = Routed(answers=answers, doubts=doubts, best=found.best if found.best in answers else LETTERS[0])
    emit(way)
    return way


async def _checked(asker: Asker, briefing: Briefing, answers: dict[str, Short], models: Sequence[str]) -> Doubts:
    fence = Fence(briefing.seed, _CHECK)
    texts = {f"ANSWER {at}": f"{one.conclusion}\n\n{one.reasons}\n\n{one.answer}" for at, one in answers.items()}
    question, listed = fence("QUESTION", briefing.query), "\n\n".join(fence(*one) for one in texts.items())
    turn = briefing.turn("", load_prompt("crucible", "check").render(query=question, answers=listed))
    try:
        wanted = Wanted(Doubts, lambda bound: [turn], shown=f"{question}\n{listed}")
        return await asker.record(wanted, _CHECK, [(models[-1],), (models[0],)])
    except (CallError, StructuredOutputError) as fault:
        return Doubts(agree=False, faults=[f"Nobody could compare the answers: {reason_of(fault)}"])


def opened(triage: TriageOutput, briefing: Briefing, way: Routed) -> tuple[TriageOutput, Briefing]:
    """Return how a council sits on what is in doubt: two seats debate, until no objection is open."""
    conclusions = "\n".join(f"- {one.conclusion}" for one in way.answers.values())
    doubts = "\n".join(f"- {one}" for one in way.doubts)
    query = load_prompt("crucible", "open").render(query=briefing.query, conclusions=conclusions, doubts=doubts)
    critics = [one for one in triage.council if one.role is CouncilRole.RED_TEAM]
    seats = [one for one in triage.council if one.role is not CouncilRole.RED_TEAM]
    small = {"council": [*seats[:2], *critics], "loop_grammar": LoopGrammar.DEBATE, "loop_count": 2}
    small["short_circuit_allowed"] = False
    return triage.model_copy(update=small), replace(briefing, query=query, settles=True)


def _in_words(text: str) -> Short:
    return Short(conclusion=lines_of(text)[-1], answer=text)

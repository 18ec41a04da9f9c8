"""The judge: does one text support, contradict or say the same as another? Words in common decide nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from pydantic import BaseModel, Field

from crux.behaviour import BEHAVIOUR
from crux.claims.grammar import judging_grammar
from crux.claims.known import JudgeTrial, KnownPair, drawn
from crux.ending import tried
from crux.quotes import folded
from crux.requests import Questioner, entry_line
from crux.results import CamelModel
from llm_runtime.messages import CallLabel, Request
from llm_runtime.prompts import load_prompt
from llm_runtime.structs import Struct
from llm_runtime.tasks import gather

Kind: TypeAlias = Literal["same", "entails", "supports", "contradicts", "undermines", "unrelated", "unsure"]
#: Pairs a call. Batches of up to 32 cost no accuracy where arguments are matched to key points.
PAIRS = 24
BEARING: frozenset[Kind] = frozenset({"same", "entails", "supports"})
"""Kinds of a premise that speaks for a claim."""
_NAMELESS: tuple[Kind, ...] = ("unrelated", "unsure")
_NAMING: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind not in _NAMELESS)


class Pair(Struct):
    """A premise, and the claim that it may bear on."""

    premise: str
    claim: str

    @property
    def turned(self) -> Pair:
        """The other way round."""
        return Pair(self.claim, self.premise)


class Verdict(CamelModel):
    """What a premise says of a claim.

    Args:
        kind: ``unsure`` also where the judge gave no usable answer, or named words that the premise does not have.
        span: words of the premise, verbatim.
    """

    kind: Kind
    span: str = ""
    why: str = ""


def speaks_for(label: str, verdict: Verdict) -> bool:
    """Tell whether a verdict on "the answer is YES" speaks for YES or NO; for another label, for either."""
    against, bears = verdict.kind in ("contradicts", "undermines"), verdict.kind in BEARING
    return {"YES": bears, "NO": against}.get(label, bears or against)


class Judgement(CamelModel):
    """A verdict with what it was on, so that it can be kept."""

    premise: str
    claim: str
    verdict: Verdict


class _Judged(BaseModel):
    """One verdict."""

    pair: int
    kind: Kind
    span: str = Field(default="", max_length=2_000)
    why: str = Field(default="", max_length=600)


class _Verdicts(BaseModel):
    """The verdicts."""

    verdicts: list[_Judged] = Field(max_length=2 * PAIRS)


class Judge:
    """Judges pairs, each once.

    Args:
        known: what was judged before.
        lot: pairs a call, 1 to 32.
        on_trial: let batches carry known pairs; for those who show how the judge did.

    Attributes:
        trial: how the judge did on the pairs of known answer that every batch carries.
    """

    def __init__(
        self, asking: Questioner, known: Iterable[Judgement] = (), lot: int = PAIRS, *, on_trial: bool = True
    ) -> None:
        self.asking, self._lot = asking, lot
        self._known = {Pair(one.premise, one.claim): one.verdict for one in known}
        self.trial, self._on_trial = JudgeTrial(), on_trial

    @property
    def judged(self) -> tuple[Judgement, ...]:
        """Every pair judged so far, in the order of judging."""
        return tuple(Judgement(premise=p.premise, claim=p.claim, verdict=v) for p, v in self._known.items())

    async def relate(self, pairs: Sequence[Pair], about: str, *, strict: bool = False) -> list[Verdict]:
        """Return a verdict on each pair, in order. Where a call gives nothing usable, its pairs are unsure.

        Args:
            pairs: any number; those judged before are not asked again.
            about: what they are judged for, distinct in a run; it labels the calls.
            strict: ask in both orders; for ``same`` and ``contradicts`` both must agree, else it is unsure.

        Raises:
            LlmRuntimeError: a budget, a deadline or a refusal that every call would meet.
        """
        await self.learn([*pairs, *(pair.turned for pair in pairs)] if strict else pairs, about)
        verdicts = [self._known.get(pair, Verdict(kind="unsure")) for pair in pairs]
        if not strict:
            return verdicts
        back = [self._known.get(pair.turned, Verdict(kind="unsure")) for pair in pairs]
        return [_agreed(first, second) for first, second in zip(verdicts, back, strict=True)]

    async def learn(self, pairs: Sequence[Pair], about: str) -> None:
        """Judge what is not judged yet, many pairs a call; :meth:`relate` then has it.

        Raises:
            LlmRuntimeError: a budget, a deadline or a refusal that every call would meet.
        """
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        lots = [fresh[start : start + self._lot] for start in range(0, len(fresh), self._lot)]
        await gather(self._asked(lot, about, number) for number, lot in enumerate(lots, start=1))

    async def _asked(self, pairs: Sequence[Pair], about: str, number: int) -> None:
        label = CallLabel("crux", "judge", about, number)
        batch, known = list(pairs), dict[Pair, KnownPair]()
        if self._on_trial and not BEHAVIOUR.before(6):
            for place, one in reversed(drawn(self.asking.seed, f"{about}:{number}", len(pairs))):
                batch.insert(place, Pair(one.premise, one.claim))
                known[Pair(one.premise, one.claim)] = one
        answer = await tried(self.asking.ask(judge_request(batch, self.asking, label), _Verdicts))
        told = {one.pair: one for one in answer.verdicts if 1 <= one.pair <= len(batch)} if answer else {}
        for place, verdict in told.items():
            pair = batch[place - 1]
            if pair in known:
                self.trial = self.trial.with_answer(verdict.kind in known[pair].kinds)
            else:
                self._known.setdefault(pair, _checked(verdict, pair))


class NoJudge(Judge):
    """Stands where debates had no judge yet: what was proposed bears, and no two questions are the same."""

    async def learn(self, pairs: Sequence[Pair], about: str) -> None:
        """Judge nothing."""

    async def relate(self, pairs: Sequence[Pair], about: str, *, strict: bool = False) -> list[Verdict]:
        """Return that each pair bears."""
        return [Verdict(kind="unsure" if strict else "supports") for _ in pairs]


def judge_request(pairs: Sequence[Pair], asking: Questioner, label: CallLabel) -> Request:
    """Return the question about one lot of pairs."""
    numbered = enumerate(pairs, start=1)
    lines = [entry_line(pair=number, premise=pair.premise, claim=pair.claim) for number, pair in numbered]
    text = load_prompt("crux.claims", "judge").render(pairs=asking.fence(label)("PAIRS", "\n".join(lines)))
    grammar = judging_grammar([pair.premise for pair in pairs], _NAMING, _NAMELESS)
    return replace(asking.request("relate", label, text), grammar=grammar)


def _checked(verdict: _Judged, pair: Pair) -> Verdict:
    """Return the verdict where its words stand in the premise; else it is unsure."""
    why = " ".join(verdict.why.split())
    if verdict.kind in _NAMELESS:
        return Verdict(kind=verdict.kind, why=why)
    span = folded(verdict.span).strip(" .\"'")
    premise = folded(pair.premise)
    if not span or span.casefold() not in premise.casefold():
        return Verdict(kind="unsure", why="the words named do not stand in the premise")
    if not BEHAVIOUR.before(6) and not carries(span, premise, pair.claim):
        return Verdict(kind="unsure", why="the words named say nothing of the claim")
    return Verdict(kind=verdict.kind, span=verdict.span.strip(), why=why)


def carries(span: str, premise: str, claim: str) -> bool:
    """Tell whether words of a premise can show that it bears on a claim.

    They have a word of the claim, where the premise has one; else three words of weight, or all that there are.
    """
    own, all_words = _weighty(span), _weighty(premise)
    shared = {word for word in all_words if any(word[:5] == other[:5] for other in _weighty(claim))}
    return bool(own & shared) if shared else len(own) >= min(3, len(all_words))


def _weighty(text: str) -> set[str]:
    """Return the words that are not only there for the grammar: of four letters or more, or of other scripts."""
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3 or not word.isascii()}


def _agreed(first: Verdict, second: Verdict) -> Verdict:
    if first.kind == second.kind or not {first.kind, second.kind} & {"same", "contradicts"}:
        return first
    return Verdict(kind="unsure", why=f"{first.kind} one way, {second.kind} the other")

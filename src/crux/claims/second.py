"""A second, blind reading: does the author, in this place, hold the claim? Where two differ, it is unsure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from pydantic import BaseModel, Field

from crux.book import OWN, Claim, Mention, Stance
from crux.ending import OVER, tried
from crux.personas.corpus import Corpus
from crux.quotes import neighbours
from crux.requests import Questioner, entry_line
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import load_prompt
from llm_runtime.structured import ask
from llm_runtime.tasks import gather

#: Mentions a call.
LOT = 24


class _Taken(BaseModel):
    """What the author does with a claim in one place."""

    id: int
    stance: Stance


class _Answer(BaseModel):
    """The stances, one for each place."""

    stances: list[_Taken] = Field(max_length=2 * LOT)


async def read_again(
    mentions: Sequence[Mention], claims: Mapping[str, Claim], corpus: Corpus, asking: Questioner
) -> tuple[list[Mention], Exception | None]:
    """Return mentions with what a second reader says, who is not told what the first one said.

    Both must give the same answer, else the stance is ``unsure``; a place that gets no answer keeps the first.
    With them comes the refusal that every further call would meet, where there was one.
    """
    lots = [mentions[start : start + LOT] for start in range(0, len(mentions), LOT)]
    answers = await gather(_asked(lot, claims, corpus, asking) for lot in lots)
    told = zip(lots, answers, strict=True)
    read = [_agreed(one, said.get(at)) for lot, (said, _) in told for at, one in enumerate(lot, 1)]
    return read, next((stop for _, stop in answers if stop is not None), None)


async def _asked(
    lot: Sequence[Mention], claims: Mapping[str, Claim], corpus: Corpus, asking: Questioner
) -> tuple[dict[int, Stance], Exception | None]:
    lines: list[str] = []
    for number, one in enumerate(lot, start=1):
        before, after = neighbours(corpus.by_id[one.place.item].text, one.place.start, one.place.end)
        entry = {"id": number, "author": one.author, "before": before, "place": one.place.quote, "after": after}
        lines.append(entry_line(**entry, claim=claims[one.claim].text))
    places = "\n".join(lines)
    label = CallLabel("crux", "stances", sha256(places.encode()).hexdigest()[:12])
    text = load_prompt("crux.claims", "stances").render(places=asking.fence(label)("PLACES", places))
    try:
        answer = await tried(ask(asking.generate, asking.request("relate", label, text), _Answer, reasks=0))
    except OVER as stop:
        return {}, stop
    return {one.id: one.stance for one in answer.value.stances} if answer else {}, None


def _agreed(mention: Mention, second: Stance | None) -> Mention:
    if second is None:
        return mention
    own = {mention.stance, second} <= set(OWN)
    same = mention.stance == second or (own and (mention.stance == "denies") == (second == "denies"))
    stance = mention.stance if same else "unsure"
    return mention.model_copy(update={"stance": stance, "readings": (mention.stance, second)})

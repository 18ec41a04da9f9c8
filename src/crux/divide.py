"""`divide`: a group's texts read together, everybody's stance on every claim, and the cruxes between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from crux.book import ClaimBook
from crux.claims.judge import Judge, Judgement
from crux.claims.reading import Unread, read_book
from crux.comparison import Comparison, Read
from crux.config import CruxConfigurationError
from crux.cruxes import divided
from crux.personas.corpus import Corpus
from crux.requests import Questioner, Step
from crux.sides import AuthorSide
from crux.sources import Utterance
from llm_runtime.errors import StructuredOutputError

#: Calls after reading, at most.
MOST_CALLS = 8
_PAIRS = 32
#: Speakers that a warning names.
_NAMED = 8


async def divide(
    texts: Corpus, asking: Questioner, *, topic: str = "", book: ClaimBook | None = None,
    known: Sequence[Judgement] = (), keep: Callable[[ClaimBook], None] = lambda book: None,
    step: Step = lambda name, step, done, of: None,
) -> Comparison:  # fmt: skip
    """Read a group's texts, and name what divides it. Nobody's voice is imitated.

    Args:
        texts: of two speakers or more, in the order of the talk; each says whose it is.
        topic: what the group is to decide; empty where its texts say so.
        book: what was read of these texts before.
        known: what was judged before.
        keep: takes the book whenever it has grown.
        step: takes nobody, a step, and how far it is.

    Raises:
        CruxConfigurationError: fewer than two people speak; nothing was asked.
        StructuredOutputError: no passage got a usable answer, or nobody takes a stance.
        LlmRuntimeError: a budget, a deadline or a refusal that every call would meet; the book was kept.
    """
    names = require_group(texts)
    book, unread = await read_book("", texts, asking, book, keep=keep, step=partial(step, "", "reading"))
    sides = [side for name in names if (side := AuthorSide(name, book, topic)).claims]
    if not sides:
        why = f" ({unread[0].reason})" if unread else ""
        raise StructuredOutputError(f"nobody was found to hold or deny anything in these texts{why}", "")
    step("", "comparing", 0, 1)
    judge = Judge(asking, known, _PAIRS)
    division = await divided(sides, topic, judge)
    step("", "comparing", 1, 1)
    return division.told(topic, _told(sides, texts), sides, judge, _warnings(names, sides, unread, division.left_out))


def group_of(utterances: Iterable[Utterance]) -> Corpus:
    """Return what is said in a place, in its order; what has no speaker or no words stays out."""
    items: dict[str, Utterance] = {}
    for number, one in enumerate(utterances, start=1):
        if one.speaker and one.text.strip():
            name = one.id if one.id not in items else f"{one.id}-{number}"
            items[name] = one.model_copy(update={"id": name})
    return Corpus(items=tuple(items.values()))


def require_group(texts: Corpus) -> list[str]:
    """Return who speaks, whoever says most first.

    Raises:
        CruxConfigurationError: it cannot be told who, or fewer than two do.
    """
    said = Counter[str]()
    for item in texts.items:
        said[item.speaker or ""] += len(item.text)
    if len(said) < 2:
        told = f"only {next(iter(said))} speaks" if said else "cannot tell who speaks"
        raise CruxConfigurationError(f"{told}; what divides a group needs two people whose words are told apart")
    return [name for name, _ in said.most_common()]


def _told(sides: Sequence[AuthorSide], texts: Corpus) -> Iterator[Read]:
    said = Counter(item.speaker or "" for item in texts.items)
    passages = Counter(texts.by_id[chunk.item].speaker or "" for chunk in texts.chunks)
    for side in sides:
        yield Read(name=side.name, texts=said[side.name], passages=passages[side.name], claims=len(side.claims))


def _warnings(
    names: Sequence[str], sides: Sequence[AuthorSide], unread: Sequence[Unread], left_out: int
) -> Iterator[str]:
    heard = {side.name for side in sides}
    if silent := [name for name in names if name not in heard]:
        more = f" and {len(silent) - _NAMED} more" if len(silent) > _NAMED else ""
        yield f"no stance was found of {', '.join(silent[:_NAMED])}{more}"
    if unread:
        yield f"{len(unread)} passages got no usable answer and are not read: {unread[0].reason}"
    if left_out:
        yield f"{left_out} claims are left out, those that fewest people speak to; name a topic"

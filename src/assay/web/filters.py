"""How the templates write values: amounts, times, names, and blocks of a story."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from assay.launch.model_choices import ModelChoice
from assay.registry import known, packages, protocol_of
from assay.report import glossary
from assay.report.html import block_html
from assay.report.markup import render
from assay.report.story import Block
from assay.report.units import clock, count, count_noun, duration, money, short_count, with_unknown, written_time
from assay.web.calls import place_words
from llm_runtime.store import RunSummary


def protocol_name(protocol: str) -> str:
    """Return what people call a kind of run: ``"Fire Circle"``; with its noun where it is not the main one."""
    run = known(protocol)
    if run is None:
        return protocol.replace("_", " ").title()
    owner = protocol_of(run.name)
    return owner.title if run is owner.runs[0] else f"{owner.title}, {run.noun}"


def cost_text(run: RunSummary) -> str:
    """Return what a run cost, as far as it is known."""
    if run.cost_unknown and not run.cost:
        return "cost unknown"
    return with_unknown(money(run.cost) + ("+" if run.cost_unknown else ""), run.unknown)


def iso_time(at: int) -> str:
    """Return milliseconds since the epoch as a ``<time>`` element wants them."""
    return written_time(at).replace(" UTC", "Z").replace(" ", "T")


def joined(items: Iterable[object], between: str) -> str:
    """Return the items as one text. Jinja's own ``join`` would let texts beside markup through uncleaned."""
    return between.join(map(str, items))


@lru_cache(maxsize=2048)
def block_markup(block: Block) -> Markup:
    """Return the markup of a block; most blocks of a run under way are those of a moment before."""
    return Markup(render(block_html(block)))


def meaning(term: str) -> str:
    """Return what a heading or figure means."""
    return glossary.meaning(term, packages())


def chip_words(choice: ModelChoice) -> str:
    """Return what a model costs and reads, and why it is offered."""
    price = choice.price
    costs = "price unknown"
    if price is not None:
        costs = "free" if price.free else f"${price.input:g} in, ${price.output:g} out a million tokens"
    reads = f"reads {short_count(choice.window)}" if choice.window else ""
    return ", ".join(filter(None, (costs, reads, choice.note)))


_BY_THEIR_NAMES: tuple[Callable[..., Any], ...] = (
    *(block_markup, chip_words, clock, cost_text, count_noun, duration, iso_time, meaning, money, place_words),
    *(protocol_name, short_count, with_unknown, written_time),
)
FILTERS: dict[str, Callable[..., Any]] = {
    **{one.__name__: one for one in _BY_THEIR_NAMES},
    **{"join": joined, "thousands": count, "tone": str},
}

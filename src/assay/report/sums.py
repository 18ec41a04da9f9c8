"""A tally as tables: calls, tokens, time and cost, by seat and by phase, with their sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from assay.report.columns import columns
from assay.report.lines import FieldWriter
from assay.report.story import Block, Fact, Note, Table
from assay.report.tally import CallSums, Sums, Tally
from assay.report.units import cost, count, duration, money
from llm_runtime.toml import own_table

_REMARKS: dict[str, str] = own_table("assay.report", "sums.toml")["remarks"]
_COLUMNS = ("Calls", "Tokens in", "Tokens out", "Time", "Cost")


def sums_tables(tally: Tally, name: Callable[[str, str], str]) -> tuple[Block, ...]:
    """Return two tables, and in words what they cannot show.

    Args:
        tally: of the run.
        name: what to call a seat, or a phase without seats, from ``(seat, phase)`` with one of them empty.
    """
    by_seat = _together((name(*who), sums) for who, sums in tally.seats.items())
    by_phase = [(name("", phase), sums) for phase, sums in tally.phases.items()]
    blocks: list[Block] = [_table("Seat", by_seat, tally.total), _table("Phase", by_phase, tally.total)]
    remark = _remark(tally.total)
    return (*blocks, Note(remark)) if remark else tuple(blocks)


def calls_of(sums: Sums) -> str:
    """Return how many calls were answered, and apart from them how many failed."""
    return f"{count(sums.both.calls)} + {sums.failed} failed" if sums.failed else count(sums.both.calls)


def cost_facts(sums: Sums) -> tuple[Fact, ...]:
    """Return what a run cost, and apart from it what the calls that it replayed once cost."""
    facts = [Fact("Cost", _cost(sums.live))]
    if sums.unknown:
        facts.append(Fact("Unknown", f"up to {money(sums.unknown)}"))
    if sums.replayed.calls:
        facts.append(Fact("Recorded cost", _cost(sums.replayed)))
    return tuple(facts)


def _together(groups: Iterable[tuple[str, Sums]]) -> list[tuple[str, Sums]]:
    """Add up the groups of one name, in the order of their first."""
    totals: dict[str, Sums] = {}
    for name, sums in groups:
        totals[name] = totals[name] + sums if name in totals else sums
    return list(totals.items())


def _table(head: str, groups: list[tuple[str, Sums]], total: Sums) -> Table:
    rows = tuple((name, *_row(sums)) for name, sums in groups)
    return Table(columns(head, numbers=_COLUMNS), rows, ("Sum", *_row(total)))


def _row(sums: Sums) -> tuple[str, ...]:
    both = sums.both
    paid = _cost(sums.live) if sums.live.calls or not sums.replayed.calls else f"({_cost(sums.replayed)})"
    return calls_of(sums), count(both.input_tokens), count(both.output_tokens), duration(both.milliseconds), paid


def _cost(spend: CallSums) -> str:
    return cost(spend.cost, spend.calls, spend.unpriced)


def _remark(total: Sums) -> str:
    """Say what the sums leave out."""
    words, scope = FieldWriter(), {"total": total}
    told = (text for path, text in _REMARKS.items() if words.get_field(path, (), scope)[0])
    return " ".join(words.vformat(text, (), scope) for text in told)

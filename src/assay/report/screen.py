"""A progress drawn for a terminal: a few lines that fit any width, cleaned, and in symbols as well as colours."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.report.clean import clean, one_line
from assay.report.progress import Progress, SeatProgress
from assay.report.units import clock, count_noun, money, short_count, with_unknown
from llm_runtime.toml import own_table

COLOURS: dict[str, str] = own_table("assay.report", "terminal.toml")["colours"]
_SPINNER = ("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏")
_PLAIN_SPINNER = ("|", "/", "-", "\\")
FRAME_MS = 200
"""How long a frame of the spinner stands."""
WIDE = 120
"""Columns of a terminal from which seats and answers stand beside each other."""
_COLUMN = 36
"""Columns below which a text beside others is hard to read."""
_SAYS = 120
_BAR = 16
_NAMES = 20


def progress_view(
    progress: Progress, now: int, budget: int | None = None, *, ascii_only: bool = False, width: int = 80
) -> Group:
    """Draw the run as it is now.

    Args:
        progress: what a protocol's fold supplies.
        now: milliseconds since the epoch.
        budget: the cap in micro-dollars, where there is one.
        ascii_only: draw without Unicode symbols.
        width: columns of the terminal; from :data:`WIDE` on seats stand beside each other.
    """
    title = _line((f"{progress.protocol} ", "bold"), (one_line(progress.title), ""))
    names = min(max((len(one_line(seat.name)) for seat in progress.seats), default=0), _NAMES)
    seats: list[RenderableType] = [_seat(seat, now, names, ascii_only) for seat in progress.seats]
    if width >= WIDE and len(progress.seats) > 1:
        seats = [beside([_tall_seat(seat, now, ascii_only) for seat in progress.seats], width)]
    notes = [_line(("  ! ", "yellow"), (one_line(note), "dim")) for note in progress.notes]
    news = [_line(("  * " if ascii_only else "  • ", "cyan"), (one_line(line), "")) for line in progress.news]
    doing = f"{one_line(progress.phase)}{_dot(ascii_only)}" if (progress.phase and progress.state == "running") else ""
    sums = _line(("  ", ""), (doing, ""), (sums_line(progress, budget), "dim"))
    return Group(title, _where(progress, now, ascii_only), *seats, sums, *news, *notes)


def abreast(cells: int, width: int) -> int:
    """Return how many texts stand beside each other, as many as are wide enough to be read."""
    return max(1, min(cells, width // _COLUMN))


def column_of(cells: int, width: int) -> int:
    """Return the columns of text that each of so many has where they stand beside each other."""
    return (width - 2) // abreast(cells, width) - 2


def beside(cells: Sequence[RenderableType], width: int) -> RenderableType:
    """Return what stands beside each other in columns of one width, as many as are wide enough to be read."""
    many = abreast(len(cells), width)
    grid = Table.grid(padding=(0, 2))
    for _ in range(many):
        grid.add_column(width=column_of(len(cells), width), overflow="fold")
    for start in range(0, len(cells), many):
        grid.add_row(*cells[start : start + many])
    return Padding(grid, (0, 0, 0, 2), expand=False)


def sums_line(progress: Progress, budget: int | None = None) -> str:
    """Write tokens and money in one line."""
    parts = [f"{short_count(progress.tokens)} tokens"]
    cost = money(progress.cost) + ("+" if progress.unpriced else "")
    cost = with_unknown(cost + (" spent" if budget is not None else ""), progress.unknown)
    if budget is not None:
        cost += f", {money(max(budget - progress.cost - progress.unknown, 0))} left"
    parts.append(cost)
    if progress.replayed:
        once = f", once {money(progress.replayed_cost)}" if progress.replayed_cost else ""
        parts.append(f"{progress.replayed} replayed{once}")
    if progress.unpriced:
        parts.append(f"{progress.unpriced} without a known price")
    return " · ".join(parts)


def _where(progress: Progress, now: int, ascii_only: bool) -> Text:
    parts: list[str] = []
    if progress.round:
        parts.append(f"{progress.round_noun} {progress.round} of {progress.rounds}")
    # What a run that broke off had still to do, nobody knows any more.
    expected = progress.calls_expected if progress.state in ("running", "finished") else None
    calls = count_noun(expected or progress.calls_done, progress.call_noun)
    parts += [f"{progress.calls_done} of {calls}" if expected else calls, clock(progress.elapsed(now))]
    if left := progress.left(now):
        parts.append(f"about {clock(left)} left")
    if progress.state != "running":
        parts.append(progress.state + (f": {one_line(progress.message)}" if progress.message else ""))
    bar: tuple[tuple[str, str], ...] = ()
    if expected:
        full = round(_BAR * min(progress.calls_done / expected, 1.0))
        on, off = ("#", ".") if ascii_only else ("━", "─")
        bar = ((on * full, "green"), (off * (_BAR - full), "dim"), ("  ", ""))
    return _line(("  ", ""), *bar, (_dot(ascii_only).join(parts), ""))


def _dot(ascii_only: bool) -> str:
    return " | " if ascii_only else " · "


def _seat(seat: SeatProgress, now: int, names: int, ascii_only: bool) -> Text:
    colour, symbol, state = _state(seat, now, ascii_only)
    return _line(
        ("  ", ""),
        symbol,
        (f" {one_line(seat.name, _NAMES):<{names}}  ", f"bold {colour}"),
        (f"{state:<14}  ", "" if seat.state == "thinking" else "dim"),
        (one_line(seat.says), "red" if seat.state == "failed" else "dim"),
    )


def _tall_seat(seat: SeatProgress, now: int, ascii_only: bool) -> Group:
    colour, symbol, state = _state(seat, now, ascii_only)
    head = _line(symbol, (f" {one_line(seat.name)}", f"bold {colour}"), (f"  {state}", "dim"))
    return Group(head, Text(one_line(seat.says, _SAYS), style="red" if seat.state == "failed" else "dim"))


def _state(seat: SeatProgress, now: int, ascii_only: bool) -> tuple[str, tuple[str, str], str]:
    """Return a seat's colour, its symbol and what it does."""
    colour = COLOURS.get(seat.accent, "white")
    frames = _PLAIN_SPINNER if ascii_only else _SPINNER
    symbols = {
        "thinking": (frames[now // FRAME_MS % len(frames)], colour),
        "done": ("+" if ascii_only else "✓", "green"),
        "failed": ("x" if ascii_only else "✗", "red"),
        "waiting": ("." if ascii_only else "·", "dim"),
    }
    thinking = seat.state == "thinking" and seat.since is not None
    return colour, symbols[seat.state], f"thinking {clock(now - (seat.since or now))}" if thinking else seat.state


def _line(*pieces: tuple[str, str]) -> Text:
    return Text.assemble(*((clean(text), style) for text, style in pieces), no_wrap=True, overflow="ellipsis")

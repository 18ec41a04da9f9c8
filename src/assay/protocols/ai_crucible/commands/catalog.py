"""`assay trial catalog`: the life of puzzles, lab to arena to regression."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from assay.console.lazy import HELP, ToldGroup
from assay.protocols.ai_crucible.trials import log_dir_option, workshop

if TYPE_CHECKING:
    from ai_crucible.catalog import CatalogEntry
    from ai_crucible.rating import Rating
    from ai_crucible.types import PuzzleMeta


@click.group("catalog", cls=ToldGroup, context_settings=HELP)
def catalog_() -> None:
    """Puzzles and their stages: lab, arena, regression.

    A puzzle enters the lab when its check admits it (assay trial check --admit), moves on after enough attempts,
    and leaves the arena when it is saturated.
    """


@catalog_.command("list")
@log_dir_option
@click.option("--json", "as_json", is_flag=True, help="Print the catalog as one JSON object.")
def list_(log_dir: str | None, as_json: bool) -> int:
    """Every admitted puzzle with its stage, and the built-in ones that are not admitted yet.

    How hard a puzzle is, is rated from all attempts at it, with an interval: 1500 is a puzzle that a middling model
    passes half of the time, 400 more are odds of ten to one against. Puzzles that all or none pass tell no models
    apart, and are marked.
    """
    from ai_crucible.catalog_paths import built_in_ids, resolve_puzzles
    from ai_crucible.puzzle_loader import load_puzzles
    from assay.report.units import reach

    shop = workshop(log_dir)
    entries, rated = shop.catalog().entries, shop.ratings()
    others = [name for name in built_in_ids() if name not in entries]
    if as_json:
        click.echo(
            json.dumps({"admitted": [_data(e, rated.get(e.puzzle)) for e in entries.values()], "built_in": others})
        )
        return 0
    width = max((len(name) for name in (*entries, *others)), default=0)
    for name, entry in sorted(entries.items()):
        rate = f"{entry.passed} of {entry.attempts} ({reach(entry.rate)})" if entry.rate else "no attempts here yet"
        click.echo(f"{name:<{width}}  {entry.stage:<10}  {entry.kind:<24}  {rate}{_rated(rated.get(name))}")
    if others:
        for puzzle in load_puzzles(resolve_puzzles(others)):
            click.echo(f"{puzzle.meta.id:<{width}}  built in{_hours(puzzle.meta)}")
        click.echo("admit what is built in with: assay trial check PUZZLE --admit", err=True)
    return 0


@catalog_.command("show")
@click.argument("puzzle")
@log_dir_option
def show_(puzzle: str, log_dir: str | None) -> int:
    """One PUZZLE: its stage, what was seen of it there, and what keeps it there."""
    shop = workshop(log_dir)
    entry = shop.show(puzzle)
    move = shop.catalog().next_move(puzzle)
    click.echo(json.dumps(_data(entry, shop.ratings().get(puzzle)), indent=1, ensure_ascii=False))
    click.echo(move if isinstance(move, str) else f"ready for {move.target}: {move.reason}", err=True)
    return 0


@catalog_.command("graduate")
@log_dir_option
@click.argument("puzzle")
@click.option("--least", type=click.IntRange(1), default=10, show_default=True, help="Attempts before any move.")
def graduate_(puzzle: str, log_dir: str | None, least: int) -> int:
    """Move PUZZLE to its next stage if it is ready; else say in one line what is missing."""
    from ai_crucible.catalog import Policy

    move = workshop(log_dir).graduate(puzzle, Policy(least_attempts=least))
    click.echo(f"{puzzle}: {move.source} to {move.target}; {move.reason}")
    return 0


def _hours(meta: PuzzleMeta) -> str:
    return f"; {meta.hours:g} hours of a person" if meta.hours else ""


def _rated(rating: Rating | None) -> str:
    if rating is None:
        return ""
    mark = f"; {rating.spread}: it tells no models apart" if rating.spread else ""
    return f"; rated {rating.value:.0f} ({rating.low:.0f} to {rating.high:.0f}){mark}"


def _data(entry: CatalogEntry, rating: Rating | None) -> dict[str, Any]:
    rate = entry.rate
    return {
        "puzzle": entry.puzzle,
        "kind": entry.kind,
        "stage": entry.stage,
        "attempts": entry.attempts,
        "passed": entry.passed,
        "rate": [rate.estimate, rate.low, rate.high] if rate else None,
        "saturation_p": entry.saturation.p_value,
        "decay_p": entry.decay.p_value,
        "moves": list(entry.moves),
        "digest": entry.digest,
        "rating": None if rating is None else [rating.value, rating.low, rating.high],
        "spread": rating.spread if rating else "",
    }

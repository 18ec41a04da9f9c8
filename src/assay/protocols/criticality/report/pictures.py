"""A build's pictures: the state machine with where it stands, and how many attempts each function took."""

from __future__ import annotations

from collections.abc import Sequence

from assay.protocols.criticality.report.state import BuildState, Unit
from assay.protocols.criticality.report.words import PHASE_NAMES, PURPOSES, STATES, place_name
from assay.report.story import Block, Details, Figure, Plain
from assay.report.svg.stations import Back, Stage, Station, stations
from assay.report.units import count_noun
from criticality.machine.states import PHASES, Active, Blocked

#: Attempts that are drawn of a function, the last ones.
_SHOWN = 6


def machine_picture(state: BuildState) -> Figure:
    """Draw the six phases with their states; ways back are drawn at the side."""
    machine = state.machine
    standing = machine.prior if isinstance(machine, Blocked) else machine
    here = f"{standing.phase.phase}.{standing.phase.type}" if isinstance(standing, Active) else ""
    passes = standing.passes if isinstance(standing, Active) else {}
    stages = [
        Stage(
            PHASE_NAMES[phase],
            _remark(passes.get(phase, 0)),
            tuple(
                Station(name, "here" if at == here else "passed" if at in state.visited else "ahead")
                for key, name in STATES[phase].items()
                for at in (f"{phase}.{key}",)
            ),
        )
        for phase in PHASES
    ]
    back = [
        Back(PHASES.index(source), PHASES.index(target), times)  # pyright: ignore[reportArgumentType]
        for (source, target), times in state.back.items()
    ]
    words = f"It stands at: {place_name(state.place)}. " + " ".join(
        f"{PHASE_NAMES[phase]}: {PURPOSES[phase]}" for phase in PHASES
    )
    if back:
        words += " " + " ".join(
            f"It went back from {PHASE_NAMES[source]} to {PHASE_NAMES[target]} {times} time{'s' * (times > 1)}."
            for (source, target), times in state.back.items()
        )
    accent = "red" if isinstance(machine, Blocked) else "c1"
    drawn = stations(stages, back, "The state machine of this build", words, accent)
    caption = "A dot marks where it has been; the filled box is where it stands."
    if back:
        caption += " The broken lines at the side are ways back, with how often each was gone."
    return Figure(drawn, caption, words)


def lives(units: Sequence[Unit]) -> list[Block]:
    """Draw what became of each function, attempt by attempt; the case that rejected each stands below."""
    drawn = [unit for unit in units if unit.life]
    if not drawn:
        return []
    shown = {unit.name: unit.life[-_SHOWN:] for unit in drawn}
    stages = [
        Stage(
            unit.name.rpartition(".")[2] if "+" not in unit.name else unit.name.replace("+", ", "),
            unit.name.partition(".")[0],
            tuple(Station(name, "here" if name.endswith("accepted") else "passed") for name, _ in shown[unit.name]),
        )
        for unit in drawn
    ]
    lines = [f"{unit.name}: {'; then '.join(f'{name}, {why}' for name, why in unit.life)}." for unit in drawn]
    words = " ".join(lines)
    title = "The life of each function, from its first attempt on"
    caption = "Each box is an attempt: who wrote it, and what rejected it; the filled one stands."
    figure = Figure(stations(stages, [], title, words, "c1"), caption, words)
    hard = tuple(Plain(line) for unit, line in zip(drawn, lines, strict=True) if len(unit.life) > 1)
    return [figure, Details(f"What rejected each: {count_noun(len(hard), 'function')}", hard)] if hard else [figure]


def _remark(times: int) -> str:
    return f"entered {times} times" if times > 1 else ""

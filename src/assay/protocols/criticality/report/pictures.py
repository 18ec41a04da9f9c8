"""A build's pictures: the state machine with where it stands, and how many attempts each function took."""

from __future__ import annotations

from assay.protocols.criticality.report.state import BuildState
from assay.protocols.criticality.report.words import PHASE_NAMES, PURPOSES, STATES, place_name
from assay.report.story import Figure
from assay.report.svg.stations import Back, Stage, Station, stations
from criticality.machine.states import PHASES, Active, Blocked


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
                for key, name in STATES[phase]
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


def _remark(times: int) -> str:
    return f"entered {times} times" if times > 1 else ""

"""The clerk: reads a finished council critique by critique, and proposes what became of each objection."""

from __future__ import annotations

from collections.abc import Iterable

from crucible.ledger import Ledger, Objection
from crucible.prose.entries import Attack, Entries, Entry, entered
from llm_runtime.errors import BudgetExceeded, CallError, DeadlineExceeded, StructuredOutputError
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask
from llm_runtime.wrappers.metered import Meter

PHASE = "clerk"
_MODEL = "openrouter/auto"


async def write_ledger(generate: Generate, attacks: Iterable[Attack], seed: int, budget: float | None) -> Ledger:
    """Ask the clerk about each critique; what it does not read is kept as open, and said.

    Nothing that fails here ends the run: its answer is there already.

    Args:
        attacks: every critique, in order.
        budget: dollars that the clerk may spend; ``None`` leaves it to the run's own bounds.
    """
    meter, objections, faults = Meter(generate), list[Objection](), list[str]()
    for attack in attacks:
        entries: list[Entry] = []
        if not faults or not faults[-1].startswith("its budget"):
            try:
                if budget is not None and meter.known_cost >= budget * 1_000_000:
                    faults.append("its budget is spent")
                else:
                    entries = await _read(meter, attack, seed)
            except (BudgetExceeded, DeadlineExceeded) as fault:
                faults.append(f"its budget is spent: {fault}")
            except (CallError, StructuredOutputError) as fault:
                faults.append(f"critique {attack.step} of loop {attack.loop}: {fault}")
        objections += entered(attack, entries, len(objections) + 1)
    missed = "The clerk has not read everything ({}); what it has not read stands as a whole, as open."
    return Ledger(objections=tuple(objections), note=missed.format("; ".join(faults)) if faults else "")


async def _read(generate: Generate, attack: Attack, seed: int) -> list[Entry]:
    label = CallLabel("crucible", PHASE, round=attack.loop, attempt=attack.step)
    fence = Fence(seed, label)

    before = [fence(f"POSITION {attack.letters.get(seat, seat)}", one.text) for seat, one in attack.before.items()]
    after = [fence(f"LATER {attack.letters.get(seat, seat)}", one.text) for seat, one in attack.after.items()]
    after += [fence("ANSWER", attack.answer.text)] if attack.answer else []
    task = load_prompt("crucible.prose", "clerk").render(
        positions="\n\n".join(before),
        critique=fence("CRITIQUE", attack.critique.text),
        later="\n\n".join(after) or "(nothing was written after it)",
    )
    shown = "\n".join([*before, attack.critique.text, *after])
    request = Request(_MODEL, (Message("user", task),), label)
    return (await ask(generate, request, Entries, reasks=0, shown=shown)).value.objections

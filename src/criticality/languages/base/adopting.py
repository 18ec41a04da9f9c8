"""What adoption needs of every language: names of modules, and whether they can be imported at all."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from criticality.judging.domain import Domain
from criticality.judging.served import Place, Returned, ServedProgram
from criticality.judging.wire import Codec
from criticality.language import Plan
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.claims import Claim
from criticality.spec.spec import Interface, Method, Spec, System
from criticality.standing import Candidate, Package

#: The function of a program that tells why a module cannot be imported; empty where it can.
PROBE = "probe.importing"
#: Makes that program for a candidate's module.
Probe = Callable[[Package, Candidate, Spec, Plan], ServedProgram]


def plan_name(dotted: str, known: dict[str, str]) -> str:
    """Return a module's name as the specification can have it, each once."""
    name = re.sub(r"[^a-z0-9]+", "_", (dotted.partition(".")[2] or dotted).lower()).strip("_0123456789") or "module"
    number = 2
    while known.setdefault(name, dotted) != dotted:
        name, number = f"{name.rstrip('0123456789')}{number}", number + 1
    return name


async def import_faults(package: Package, candidates: Sequence[Candidate], probe: Probe) -> dict[str, str]:
    """Return why modules cannot be imported, by their names, after trying it in the sealed process.

    Raises:
        ConfigurationError: there is no sandbox: importing would run outside a box.
    """
    modules = {one.module: one for one in candidates}
    faults = {name: await asyncio.to_thread(_import_fault, package, one, probe) for name, one in modules.items()}
    return {name: why for name, why in faults.items() if why}


def _import_fault(package: Package, candidate: Candidate, probe: Probe) -> str:
    function = FunctionPlan(name="importing", returns="Text", doc="tells why", contracts=["PURITY: pure"])
    plan = (ModulePlan(name="probe", purpose="imports a module", functions=[function]),)
    method = Interface(methods=[Method(name="importing", returns="Text")])
    spec = Spec(
        system=System(name="probed-package", description="imports a module"), interfaces={"Probe": method},
        claims={"probe_001": Claim(text="a module is imported", type="behavioral")},
    )  # fmt: skip
    with Place(probe(package, candidate, spec, plan), Codec(Domain(spec), plan), isolated=True) as place:
        place.build()
        with place.serve(0) as process:
            outcome = process.call(PROBE, ())
    if isinstance(outcome, Returned):
        return str(outcome.value)
    reason = getattr(outcome, "reason", "") or getattr(outcome, "message", "")
    return reason.replace("no process for bodies starts here", "it ends the process that imports it").partition(
        "; run:"
    )[0]

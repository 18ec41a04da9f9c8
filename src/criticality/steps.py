"""What is done in each state, and what follows where no model gives a usable answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from criticality import composition_audit, ignition, injection, lattice, mass_defect, mesoscopic
from criticality import events as e
from criticality.budget import ContextOverflow
from criticality.labels import BlockKind
from criticality.machine.step import where
from criticality.machine.table import WAYS_OUT
from criticality.work import Work
from llm_runtime.errors import CallError, NoModelError, StructuredOutputError
from llm_runtime.events import Event

#: What is done in each state; ``None`` in place of an event says that a person is awaited.
_STEPS: Mapping[str, Callable[[Work], Awaitable[Event | None]]] = {
    "ignition.interviewing": ignition.interview,
    "ignition.synthesizing": ignition.synthesize,
    "ignition.awaitingApproval": ignition.approval,
    "lattice.generatingStructure": lattice.generate,
    "lattice.compilingCheck": lattice.compile_check,
    "lattice.repairingStructure": lattice.repair,
    "compositionAudit.auditing": composition_audit.audit,
    "compositionAudit.reportingContradictions": composition_audit.report,
    "injection.selectingFunction": injection.select,
    "injection.implementing": injection.implement,
    "injection.verifying": injection.verify,
    "injection.escalating": injection.escalate,
    "mesoscopic.generatingTests": mesoscopic.generate,
    "mesoscopic.executingCluster": mesoscopic.execute,
    "mesoscopic.handlingVerdict": mesoscopic.verdict,
    "massDefect.analyzingComplexity": mass_defect.analyze,
    "massDefect.applyingTransform": mass_defect.transform,
    "massDefect.verifyingSemantics": mass_defect.verify,
}


async def performed(work: Work) -> Event | None:
    """Do what is next; ``None`` where a person is awaited.

    Raises:
        NoModelError: a model is needed and there is none.
    """
    try:
        return await _STEPS[where(work.state)](work)
    except NoModelError:
        raise
    except (CallError, StructuredOutputError) as fault:
        return blocked("provider_down", f"No usable answer from a model: {fault}")
    except ContextOverflow as fault:
        smaller = [] if work.state.phase.phase == "ignition" else WAYS_OUT["too_much"]
        return blocked("context_overflow", f"Too much for any model: {fault}", *smaller)


def blocked(reason: BlockKind, question: str, *more: dict[str, str]) -> Event:
    """Return the question that only a person can decide."""
    retry, restate = WAYS_OUT["call"]
    return e.BlockRequested(reason=reason, question=question, options=[retry, *more, restate])

"""What is done in each state, and what follows where no model gives a usable answer."""

from __future__ import annotations

from criticality import composition_audit, ignition, injection, lattice, mass_defect, mesoscopic
from criticality import events as e
from criticality.budget import ContextOverflow
from criticality.labels import BlockKind
from criticality.machine.step import where
from criticality.work import Work
from llm_runtime.errors import CallError, LlmRuntimeError, NoModelError, StructuredOutputError
from llm_runtime.events import Event

_SMALLER = {"id": "restructure", "label": "Build a new lattice, of smaller modules", "resumes": "lattice"}


async def performed(work: Work, lanes: injection.Lanes, received: e.ImplementationReceived | None) -> Event | None:
    """Do what is next; ``None`` where a person is awaited.

    Args:
        received: the bodies that are to be verified.

    Raises:
        NoModelError: a model is needed and there is none.
    """
    try:
        return await _step(work, lanes, received)
    except NoModelError:
        raise
    except CallError as fault:
        return _provider_down(fault)
    except StructuredOutputError as fault:
        return _provider_down(fault)
    except ContextOverflow as fault:
        smaller = [] if work.state.phase.phase == "ignition" else [_SMALLER]
        return blocked("context_overflow", f"Too much for any model: {fault}", *smaller)


async def _step(work: Work, lanes: injection.Lanes, received: e.ImplementationReceived | None) -> Event | None:
    match where(work.state):
        case "ignition.interviewing":
            return await ignition.interview(work)
        case "ignition.synthesizing":
            return await ignition.synthesize(work)
        case "ignition.awaitingApproval":
            return await ignition.approval(work)
        case "lattice.generatingStructure":
            return await lattice.generate(work)
        case "lattice.compilingCheck":
            return await lattice.compile_check(work)
        case "lattice.repairingStructure":
            return await lattice.repair(work)
        case "compositionAudit.auditing":
            return await composition_audit.audit(work)
        case "compositionAudit.reportingContradictions":
            return await composition_audit.report(work)
        case "injection.selectingFunction":
            return await injection.select(work, lanes)
        case "injection.implementing":
            return await injection.implement(work, lanes)
        case "injection.verifying":
            assert received is not None
            return await injection.verify(work, received, lanes)
        case "injection.escalating":
            return await injection.escalate(work)
        case "mesoscopic.generatingTests":
            return await mesoscopic.generate(work)
        case "mesoscopic.executingCluster":
            return await mesoscopic.execute(work)
        case "mesoscopic.handlingVerdict":
            return await mesoscopic.verdict(work)
        case "massDefect.analyzingComplexity":
            return await mass_defect.analyze(work)
        case "massDefect.applyingTransform":
            return await mass_defect.transform(work)
        case _:
            return await mass_defect.verify(work)


def _provider_down(fault: LlmRuntimeError) -> Event:
    return blocked("provider_down", f"No usable answer from a model: {fault}")


def blocked(reason: BlockKind, question: str, *more: dict[str, str]) -> Event:
    """Return the question that only a person can decide."""
    return e.BlockRequested(
        reason=reason,
        question=question,
        options=[
            {"id": "retry", "label": "Try again", "resumes": "prior"},
            *more,
            {"id": "restate", "label": "Go back to the interview", "resumes": "ignition"},
        ],
    )

"""One process of the court: a line of JSON is a hearing, a line is its answer. It holds what a clause may take."""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any

from criticality.judging.hearing import DIFFERENCE, HEARING, PROJECT, VERDICT
from criticality.judging.judge import Judge
from criticality.judging.outcomes import JudgeFailed
from criticality.judging.served import BuildFailed
from criticality.judging.vacuity import vacuous
from llm_runtime.errors import ConfigurationError

_MEMORY = 4 << 30


def main() -> None:
    """Serve hearings until the pipe closes; nothing else is written to it."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    memory = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = {"answer": answered(json.loads(line))}
        except ConfigurationError as fault:
            answer = {"fault": str(fault)}
        except Exception as fault:
            # Whatever goes wrong in here is ours.
            told = str(fault) if isinstance(fault, JudgeFailed) else f"{type(fault).__name__}: {fault}"
            answer = {"failed": told[:400]}
        out.write(json.dumps(answer) + "\n")
        out.flush()


def answered(job: dict[str, Any]) -> Any:
    """Do what one line asks for."""
    if job["do"] == "vacuous":
        return vacuous(PROJECT.validate_python(job["project"]))
    hearing = HEARING.validate_python(job["hearing"])
    try:
        with Judge(hearing) as judge:
            if job["do"] == "clause":
                return judge.clause_fault(DIFFERENCE.validate_python(job["difference"]), job["clause"], job["loser"])
            return VERDICT.dump_python(judge.heard() if job["do"] == "hear" else judge.compared(), mode="json")
    except BuildFailed as fault:
        return f"the bodies cannot be built: {str(fault)[:400]}"

"""Where hearings take place: a few processes of our own, one hearing at a time in each, ended if it has no end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from criticality.judging.hearing import HEARING, PROJECT, VERDICT, Difference, Fault, Hearing, Project, Verdict
from criticality.judging.outcomes import JudgeFailed
from criticality.lattice_plan import ModulePlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.spec import Spec
from llm_runtime.errors import ConfigurationError
from sandbox import Channel, Gone, Start

_LONGEST_S = 900.0
#: A process that a machine in need has ended is worth another.
_TRIES = 2
_MAIN = "import json,sys;sys.path[:]=json.loads(sys.argv[1]);from criticality.judging.sitting import main;main()"


class Court:
    """Hearings in processes. Close it at the end.

    Args:
        parallel: hearings at one time.
    """

    def __init__(self, parallel: int = 2) -> None:
        self._free: asyncio.Queue[Channel | None] = asyncio.Queue()
        for _ in range(parallel):
            self._free.put_nowait(None)

    async def hear(self, hearing: Hearing) -> Verdict:
        """Return the verdict on variant 0 of a hearing's program."""
        return await self._verdict({"do": "hear"}, hearing)

    async def compare(self, hearing: Hearing) -> Verdict:
        """Return how other bodies compare with variant 0, which was accepted."""
        return await self._verdict({"do": "compare"}, hearing)

    async def clause_fault(self, hearing: Hearing, difference: Difference, clause: str, loser: int) -> str:
        """Tell why a clause does not settle a difference; empty where it does."""
        job: dict[str, Any] = {"do": "clause", "clause": clause, "loser": loser, "difference": asdict(difference)}
        return str(await self._heard(job, hearing) or "")

    async def vacuous(self, spec: Spec, plan: tuple[ModulePlan, ...], claims: Sequence[StructuredClaim]) -> list[str]:
        """Return what is wrong with tests of claims before there are bodies, one line each."""
        project = PROJECT.dump_python(Project(spec, plan, claims), mode="json")
        answer = await self._answer({"do": "vacuous", "project": project})
        return [answer] if isinstance(answer, str) else list(answer)

    async def aclose(self) -> None:
        """End every process."""
        for channel in [self._free.get_nowait() for _ in range(self._free.qsize())]:
            self._free.put_nowait(await _end(channel))

    async def _verdict(self, job: dict[str, Any], hearing: Hearing) -> Verdict:
        answer = await self._heard(job, hearing)
        if isinstance(answer, str):
            return Verdict(faults=[Fault("coherence", hearing.unit[0], "a contract that can be judged", answer)])
        return VERDICT.validate_python(answer)

    async def _heard(self, job: dict[str, Any], hearing: Hearing) -> Any:
        return await self._answer({**job, "hearing": HEARING.dump_python(hearing, mode="json")})

    async def _answer(self, job: dict[str, Any]) -> Any:
        """Return what a sitting answers.

        Raises:
            JudgeFailed: it could not do its work.
        """
        line = json.dumps(job).encode()
        answer: Mapping[str, Any] = {}
        for _ in range(_TRIES):
            channel = await self._free.get()
            try:
                if channel is None or not channel.alive:
                    environment = {**os.environ, "PYTHONHASHSEED": "0"}
                    words = [sys.executable, "-c", _MAIN, json.dumps(sys.path)]
                    channel = await Channel.to(Start(words, {"start_new_session": True, "env": environment}))
                answer, _ = await channel.ask(line, seconds=_LONGEST_S)
                break
            except BaseException as fault:
                channel = await _end(channel)
                if not isinstance(fault, Gone):
                    raise
                answer = {"failed": str(fault)}
            finally:
                self._free.put_nowait(channel)
        if "fault" in answer:
            raise ConfigurationError(str(answer["fault"]))
        if "failed" in answer:
            unit = ", ".join(job.get("hearing", {}).get("unit", ())) or "the claims"
            raise JudgeFailed(
                f"the judge could not look at {unit}: {answer['failed']}; that says nothing about what was "
                "written, and nothing was refused for it; run the command again"
            )
        return answer["answer"]


async def _end(channel: Channel | None) -> None:
    if channel is not None:
        await channel.close()

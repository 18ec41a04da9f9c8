"""Go: build and vet with a build cache that is kept, and one program for all bodies that are judged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from criticality.judging.served import ServedProgram
from criticality.languages.base.toolchain.compiled import CompiledToolchain, Place, reported
from criticality.languages.base.toolchain.dependencies import cache_root
from criticality.languages.base.toolchain.programs import programs
from criticality.testing import Diagnostic
from sandbox.filter import sealing

(GO,) = programs("criticality.languages.go")

_ERROR = re.compile(r"^(?:vet: )?(?:\./)?([^\s:]+\.go:\d+(?::\d+)?): (.+)$", re.MULTILINE)


def _cache() -> Path:
    """Return the folder of what this version of Go has built: the standard library above all."""
    folder = cache_root() / f"go-{GO.version}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class GoToolchain(CompiledToolchain):
    """go build, vet and test."""

    language = "criticality.languages.go"

    @classmethod
    def served(cls, files: dict[str, str]) -> ServedProgram:
        go = GO.path()
        # What preempts by a signal would have to be allowed to send signals.
        environment = cls.environment(bin=go.parent, cache=_cache(), temporary="/tmp")
        environment |= {"GODEBUG": "asyncpreemptoff=1", "GOMAXPROCS": "2"}
        build = (str(go), "build", "-gcflags=-e", "-ldflags=-s -w", "-o", "served", "./serve")
        return ServedProgram(
            command=("./served", sealing().hex()), files=files, build=(build,),
            read_only=(go.parent.parent,), environment=environment, memory=2 << 30,
            todo=cls.table().todo, shared=(_cache(),),
        )  # fmt: skip

    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        temporary, go = place.build / "tmp", GO.path()
        temporary.mkdir(exist_ok=True)
        environment = self.environment(bin=go.parent, cache=_cache(), temporary=temporary)
        for words in (["build", "-gcflags=-e", "-o", "/dev/null", "./..."], ["vet", "./..."]):
            ended = await self.build(
                place, [str(go), *words], readable=(go.parent.parent,), writable=(_cache(),),
                environment=environment,
            )  # fmt: skip
            if ended.code:
                return reported(_ERROR, ended, "go.mod", "go")
        return []

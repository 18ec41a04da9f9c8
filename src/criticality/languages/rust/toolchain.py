"""Rust: cargo with clippy over a target folder that is kept, and one program for all bodies that are judged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from criticality.judging.served import ServedProgram
from criticality.languages.base.toolchain.compiled import CompiledToolchain, Place
from criticality.languages.base.toolchain.programs import prefix, programs
from criticality.testing import Diagnostic
from sandbox.filter import sealing

RUSTC, CARGO, CLIPPY, LINKER = programs("criticality.languages.rust")


def _root() -> Path:
    """Return the toolchain itself: the programs on the path are often rustup's, which only choose one."""
    root = RUSTC.says("--print", "sysroot")
    return Path(root) if root else prefix(CARGO.path())


class RustToolchain(CompiledToolchain):
    """cargo and clippy."""

    language = "criticality.languages.rust"

    @classmethod
    def served(cls, files: dict[str, str]) -> ServedProgram:
        words = (
            str(_root() / "bin/rustc"), "--edition=2024", "-Copt-level=1", "-Coverflow-checks=on", "-Awarnings",
            "-o", "served", "src/main.rs",
        )  # fmt: skip
        return ServedProgram(
            command=("./served", sealing().hex()), files=files, build=(words,),
            read_only=(_root(),), environment={"PATH": "/usr/bin:/bin", "TMPDIR": "/tmp"}, todo=cls.table().todo,
        )  # fmt: skip

    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        lint = "clippy" if (_root() / "bin/cargo-clippy").exists() else "check"
        ended = await self.build(
            place, [str(_root() / "bin/cargo"), lint, "--lib", "--offline", "--message-format=json"],
            readable=(_root(),), writable=(place.copy.folder,),
            environment=self.environment(root=_root(), target=place.build),
        )  # fmt: skip
        output = ended.text if not ended.ended else f"the compiler was ended ({ended.ended})"
        errors = [diagnostic(message) for message in _messages(output) if message["level"] == "error"]
        return errors or ([] if '"success":true' in output else [Diagnostic("Cargo.toml", _complaint(output))])


def _messages(output: str) -> Iterator[Mapping[str, Any]]:
    """Yield what the compiler said; the summary that counts its errors is left out."""
    for line in output.splitlines():
        if line.startswith('{"reason":"compiler-message"'):
            message = json.loads(line)["message"]
            if not message["message"].startswith("aborting due to"):
                yield message


def diagnostic(message: Mapping[str, Any]) -> Diagnostic:
    """One message of rustc or clippy."""
    span = next((s for s in message["spans"] if s["is_primary"]), None)
    place = f"{span['file_name']}:{span['line_start']}:{span['column_start']}" if span else ""
    label = f" ({span['label']})" if span and span["label"] else ""
    return Diagnostic(place, " ".join(f"{message['message']}{label}".split()))


def _complaint(output: str) -> str:
    lines = [line for line in output.splitlines() if line and not line.startswith("{")]
    return next((line for line in lines if line.startswith("error")), lines[-1] if lines else "cargo said nothing")

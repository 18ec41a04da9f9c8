"""TypeScript: a warm compiler at its strictest, and one program on node for all bodies that are judged."""

from __future__ import annotations

from pathlib import Path

from criticality.judging.served import ServedProgram
from criticality.languages.base.data import read_text
from criticality.languages.base.toolchain.compiled import CONFINED, Place, ordered
from criticality.languages.base.toolchain.dependencies import CommandFailed, Pinned, command
from criticality.languages.base.toolchain.programs import prefix, programs
from criticality.languages.base.toolchain.warm import WarmCompiler, WarmToolchain

NODE, NPM = programs("criticality.languages.typescript")


async def _install(folder: Path) -> None:
    # No scripts: what a package runs when it is installed is not looked at by anybody.
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
    # npm's own patience without a network is minutes; one more attempt finds what the first one has fetched.
    words = [str(NPM.path()), "install", *quiet, "--fetch-retries=0", "--fetch-timeout=60000"]
    try:
        await command(folder, *words)
    except CommandFailed:
        await command(folder, *words)


class TypeScriptToolchain(WarmToolchain):
    """tsc."""

    language = "criticality.languages.typescript"

    @classmethod
    def pinned(cls) -> Pinned:
        """TypeScript, eslint and decimal.js, as ``package.json`` pins them."""
        return Pinned("TypeScript", "typescript", cls.manifest(), f"node {NODE.version}", _install)

    @classmethod
    def served(cls, files: dict[str, str]) -> ServedProgram:
        packages, node = cls.pinned().folder / "node_modules", str(NODE.path())
        script = read_text(cls.language, "build.mjs")
        flags = ("--experimental-permission", "--allow-fs-read=*", "--max-old-space-size=512", "--stack-size=900")
        return ServedProgram(
            command=(node, *flags, "out/src/serve.js", CONFINED), files=files | {"build.mjs": script},
            confined=True, build=((node, "build.mjs", str(packages)),),
            read_only=(packages.parent, prefix(NODE.path())), environment=environment(NODE.path()),
            memory=0, bits=53, todo=cls.table().todo,
        )  # fmt: skip

    def compiler(self, place: Place, installed: Path) -> WarmCompiler:
        packages, script = installed / "node_modules", self.root / "checker.mjs"
        script.write_text(read_text(self.language, "checker.mjs"), "utf-8")
        # Node and the compiler look for the installed packages beside the sources.
        (place.copy.folder / "node_modules").symlink_to(packages)
        command = [NODE.path(), script, packages / "typescript/lib/typescript.js", place.copy.folder]
        node = NODE.path()
        return WarmCompiler(ordered(place, command, environment(node), self.root, installed, prefix(node)))


def environment(node: Path) -> dict[str, str]:
    """Return what Node runs with."""
    return TypeScriptToolchain.environment(bin=node.parent)

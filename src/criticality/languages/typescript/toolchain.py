"""TypeScript: a warm compiler at its strictest, and one program on node for all bodies that are judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from criticality.judging.served import ServedProgram
from criticality.languages.base.data import read_text
from criticality.languages.base.toolchain.compiled import CONFINED, CompiledToolchain, Place
from criticality.languages.base.toolchain.dependencies import CommandFailed, Pinned, command
from criticality.languages.base.toolchain.programs import Program, prefix
from criticality.languages.base.toolchain.warm import WarmCompiler
from criticality.testing import Diagnostic, Limits

_GET = "install Node.js 20.19 or newer, with npm (your system's package manager, or the Node.js site)"
NODE = Program("node", ("--version",), _GET, at_least=(20, 19))
NPM = Program("npm", ("--version",), _GET)


async def _install(folder: Path) -> None:
    # No scripts: what a package runs when it is installed is not looked at by anybody.
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
    # npm's own patience without a network is minutes; one more attempt finds what the first one has fetched.
    words = [str(NPM.path()), "install", *quiet, "--fetch-retries=0", "--fetch-timeout=60000"]
    try:
        await command(folder, *words)
    except CommandFailed:
        await command(folder, *words)


class TypeScriptToolchain(CompiledToolchain):
    """tsc."""

    language = "criticality.languages.typescript"
    title = "TypeScript"
    programs = (NODE, NPM)

    def __init__(self, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._compiler: WarmCompiler | None = None
        self._files: frozenset[str] = frozenset()

    @classmethod
    def pinned(cls) -> Pinned:
        """TypeScript, eslint and decimal.js, as ``package.json`` pins them."""
        return Pinned("TypeScript", "typescript", cls.manifest(), f"node {NODE.version}", _install)

    @classmethod
    def served(cls, files: dict[str, str], variants: int) -> ServedProgram:
        packages, node = cls.pinned().folder / "node_modules", str(NODE.path())
        script = read_text(cls.language, "build.mjs")
        flags = ("--experimental-permission", "--allow-fs-read=*", "--max-old-space-size=512", "--stack-size=900")
        return ServedProgram(
            command=(node, *flags, "out/src/serve.js", CONFINED), files=files | {"build.mjs": script},
            confined=True, build=((node, "build.mjs", str(packages)),),
            read_only=(packages.parent, prefix(NODE.path())), environment=environment(NODE.path()),
            memory=0,
            variants=variants, todo=cls.table().todo, counted="nanoseconds",
        )  # fmt: skip

    async def aclose(self) -> None:
        if self._compiler is not None:
            await self._compiler.close()
        await super().aclose()

    async def examine(
        self, place: Place, installed: Path, tree: Mapping[str, str], changed: set[str]
    ) -> list[Diagnostic]:
        _link(place, installed)
        if self._compiler is None:
            script = self.root / "checker.mjs"
            script.write_text(read_text(self.language, "checker.mjs"), "utf-8")
            library = installed / "node_modules/typescript/lib/typescript.js"
            command = [str(NODE.path()), str(script), str(library), str(place.copy.folder)]
            self._compiler = WarmCompiler(command, environment(NODE.path()))
        files = frozenset(tree)
        same, self._files = files == self._files, files
        return await self._compiler.ask("again" if same else "sources")


def _link(place: Place, installed: Path) -> None:
    """Link the installed packages where node and the compiler look for them."""
    packages = place.copy.folder / "node_modules"
    if not packages.is_symlink():
        packages.symlink_to(installed / "node_modules")


def environment(node: Path) -> dict[str, str]:
    return {"PATH": f"{node.parent}:/usr/bin:/bin", "HOME": "/tmp", "CI": "1", "NO_COLOR": "1"}

"""People's own agents: the command line of each, what of this machine it needs in its box, and that box."""

from __future__ import annotations

import os
import platform
import re
import secrets
import shlex
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from hashlib import sha256
from importlib import metadata, resources
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import WeakKeyDictionary

from pydantic import Field
from typing_extensions import override

from ai_crucible.puzzle_box import BoxOrder, open_box, told
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model
from llm_runtime.rewording import instead
from llm_runtime.toml import own_table
from sandbox import Box, BoxLimits
from sandbox.boxes import HOME
from sandbox.limits import MIB
from sandbox.made_once import made_once

PROMPT, PROXY, SERVICES = ".task.md", "/run/model", "/var/tmp/sandbox-services"
"""In the box: the task as a file below the home, Inspect's model proxy, and where that leaves what it is asked."""
URL = "http://127.0.0.1:13131"
SOCKET = "model.sock"

#: Programs of this size need more than what a puzzle gives a solver's commands; the least of each.
_ROOM = {
    "processes": 512, "memory": 2048 * MIB, "address_space": 1 << 46, "open_files": 4096, "disk": 256 * MIB,
    "output": 8 * MIB,
}  # fmt: skip
#: Of the host every box sees these.
_VISIBLE = tuple(map(Path, ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/share")))

PIPES: WeakKeyDictionary[Box, Path] = WeakKeyDictionary()
"""The folder of each agent's box in which its model's socket lies."""


class AgentCommand(Model):
    """How an agent is started. It reads the task from its standard input, where its words do not name it."""

    argv: tuple[str, ...] = Field(min_length=1)
    needs: str = ""
    """A package of Python's, without which Inspect does not speak this agent's wire."""
    set: Mapping[str, str] = {}
    """Variables that it gets, beside those of every agent."""
    files: Mapping[str, str] = {}
    """Settings that it finds, by their place below its home."""

    def words(self, prompt: str) -> list[str]:
        """Return the command line for a task."""
        return [_filled(word, prompt) for word in _placed(self.argv)[0]]

    def environment(self) -> dict[str, str]:
        """Return its variables."""
        every: Mapping[str, str] = _table()["every"]
        return {name: _filled(value, "") for name, value in {**every, **self.set}.items()}


class AgentOrder(BoxOrder):
    """The box of an agent: beside all that a solver's box has, the agent's own program, and a pipe to the model.

    Args:
        argv: the command; what it names of this machine is shown, and nothing else.
    """

    argv: tuple[str, ...] = Field(exclude=True)

    @override
    async def open(self, pipes: Path | None = None) -> Box:
        # Nobody else on this machine comes to the socket: a folder that cannot be listed, and a name that is drawn.
        with ExitStack() as stack:
            room = TemporaryDirectory(prefix="agent-", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(room)) / secrets.token_hex(16)
            folder.parent.chmod(0o711)
            folder.mkdir()
            folder.chmod(0o755)
            (folder / "bridge_model_service").symlink_to("/tmp/.model")
            shared = {**_placed(self.argv)[1], PROXY: proxy(), SERVICES: folder}
            box = await open_box(self, hidden=self.hidden, root=self.root, shared=shared)
            box.held.push(stack.pop_all())
        PIPES[box] = folder
        return box


def find_agent(words: str) -> AgentCommand:
    """Return the agent of that name, or the one that a command line of one's own starts.

    Raises:
        ConfigurationError: its program is not here, or a package is missing that its wire needs.
    """
    with instead(ConfigurationError(f"--agent {words}: no command line; see: assay trial run --help"), ValueError):
        agent = AgentCommand.model_validate(_table().get(words) or {"argv": shlex.split(words)})
    _placed(agent.argv)
    refused = ConfigurationError(f"the agent {words} needs a package for its wire: pip install {agent.needs}")
    with instead(refused, metadata.PackageNotFoundError):
        metadata.distribution(agent.needs or "pydantic")
    return agent


def agent_names() -> list[str]:
    """Return the agents that are known by name."""
    return [name for name in _table() if name != "every"]


def agent_name(words: str) -> str:
    """Return what an agent is called in plan, ledger and report: places of this machine stay out of it."""
    return words if words in _table() else shlex.join(Path(word).name or word for word in shlex.split(words))


def order_for(order: BoxOrder, agent: AgentCommand) -> AgentOrder:
    """Return the order of an agent's box, of that for a puzzle.

    Raises:
        ConfigurationError: what would be shown of this machine holds puzzles, and their answers.
    """
    for path in _placed(agent.argv)[1].values():
        if held := next((each for each in order.hidden if each.resolve().is_relative_to(path)), None):
            raise ConfigurationError(f"{agent.argv[0]} lies in {path}, and so does {held}: install it elsewhere")
    limits = {name: max(_ROOM.get(name, 0), getattr(order, name)) for name in BoxLimits.model_fields}
    return AgentOrder.model_validate({**limits, "hidden": order.hidden, "root": order.root, "argv": agent.argv})


@cache
@told()
def proxy() -> Path:
    """Return Inspect's model proxy, unpacked: it speaks the wires of all vendors, in streams too.

    Raises:
        ConfigurationError: this Inspect brings none for this machine.
    """
    machine = {"aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "amd64")
    packed = next(iter(Path(str(resources.files("inspect_ai"))).glob(f"binaries/*-tools-{machine}-v*")), None)
    if packed is None:
        raise ConfigurationError("this Inspect AI brings no model proxy for this machine, so no agent can sit")

    def unpack(folder: Path) -> None:
        with tarfile.open(packed, "r:gz") as archive:
            archive.extractall(folder, filter="data")

    return made_once("agents", sha256(packed.read_bytes()).hexdigest(), unpack)


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    return own_table(__package__ or "", "agents.toml")


def _filled(word: str, prompt: str) -> str:
    values = {"prompt": prompt, "prompt_file": f"{HOME}/{PROMPT}", "url": URL}
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), word)


@cache
def _placed(argv: tuple[str, ...]) -> tuple[list[str], dict[str, Path]]:
    """Return the command as the box sees it, and what of this machine it has to see for that, by its place.

    Raises:
        ConfigurationError: the program is not here.
    """
    # What the box has of its own comes first, for what lies elsewhere may need more than itself.
    program = shutil.which(argv[0], path="/usr/bin:/bin") or shutil.which(argv[0])
    if program is None:
        raise ConfigurationError(f"the agent's program {argv[0]} is not on this machine: install it, or name its path")
    words, shown = [program, *argv[1:]], dict[str, Path]()
    for at, word in enumerate(words):
        if at == 0 or (word.startswith("/") and Path(word).exists()):
            words[at], parts = _parts(Path(word).absolute())
            shown |= {str(part): part for part in parts if not any(part.is_relative_to(each) for each in _VISIBLE)}
    for path in shown.values() if os.geteuid() == 0 else ():
        if closed := next((each for each in path.parents if not each.stat().st_mode & 0o001), None):
            raise ConfigurationError(f"{path}: root's boxes run as nobody, who cannot come through {closed}: move it")
    return words, shown


def _parts(path: Path) -> tuple[str, Sequence[Path]]:
    """Return the place of a program or file, and what it consists of: a package of npm's, an environment, or itself."""
    environment = next((each for each in path.parents if (each / "pyvenv.cfg").is_file()), None)
    if environment is not None:
        home = re.search(r"^home *= *(.+)$", (environment / "pyvenv.cfg").read_text(encoding="utf-8"), re.MULTILINE)
        python = [Path(home[1]).resolve()] if home else []
        return str(path), [environment, *(each.parent for each in python if each not in _VISIBLE)]
    path = path.resolve()
    modules = [each for each in path.parents if each.name == "node_modules"]
    return str(path), [modules[-1] if modules else path]

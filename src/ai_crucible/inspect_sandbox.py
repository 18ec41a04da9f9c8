"""The box as an Inspect sandbox: ``sandbox="bwrap"`` in any Inspect task."""

from __future__ import annotations

from typing import Any, Literal, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from typing_extensions import override

from ai_crucible.puzzle_box import BoxOrder, CannotIsolate, open_box, probe
from llm_runtime.errors import ConfigurationError
from llm_runtime.rewording import reworded
from sandbox import Box, BoxDied, BoxLimits, Completed

_TAR = "/tmp/.work.tar"


class BwrapSandbox(SandboxEnvironment):
    """One box a sample and epoch; see :mod:`sandbox`."""

    def __init__(self, box: Box) -> None:
        super().__init__()
        self.box = box

    @classmethod
    @override
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Refuse here, before any model is asked, where nothing can be isolated."""
        import sniffio

        if sniffio.current_async_library() != "asyncio":
            raise ConfigurationError("the bwrap sandbox runs on asyncio; unset INSPECT_ASYNC_BACKEND")
        await probe(config.root if isinstance(config, BoxOrder) else None)

    @classmethod
    @override
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        if isinstance(config, str):
            raise ConfigurationError("the bwrap sandbox takes limits (BoxLimits) or nothing, not a file")
        limits = config if isinstance(config, BoxLimits) else BoxLimits()
        return {"default": cls(await (limits.open() if isinstance(limits, BoxOrder) else open_box(limits)))}

    @classmethod
    @override
    async def sample_cleanup(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment], interrupted: bool,
    ) -> None:  # fmt: skip
        for environment in environments.values():
            await environment.as_type(BwrapSandbox).box.close()

    @classmethod
    @override
    def config_deserialize(cls, config: dict[str, Any]) -> BoxLimits:
        return BoxLimits.model_validate(config)

    @override
    async def exec(
        self, cmd: list[str], input: str | bytes | None = None, cwd: str | None = None,
        env: dict[str, str] | None = None, user: str | None = None, timeout: int | None = None,
        timeout_retry: bool = True, concurrency: bool = True,
    ) -> ExecResult[str]:  # fmt: skip
        """Run a program. A command that took too long is not tried again, whatever ``timeout_retry`` says.

        Raises:
            TimeoutError, OutputLimitExceededError: its limit ended it.
            SandboxUserUnsupportedError: any user but the box's own.
            SandboxUnavailableError: the box is gone.
        """
        if user not in (None, "agent", "1000"):
            raise SandboxUserUnsupportedError(f"the bwrap sandbox has one user, so nothing runs as {user!r}")
        stdin = input.encode() if isinstance(input, str) else input or b""
        with reworded("", BoxDied, kind=SandboxUnavailableError):
            done = await self.box.run(cmd, stdin=stdin, cwd=cwd or "", env=env, seconds=timeout)
        if done.ended == "time":
            raise TimeoutError(f"the command took more than {timeout or self.box.limits.seconds:g} seconds")
        if done.ended == "output":
            raise OutputLimitExceededError(f"{self.box.limits.output} bytes", done.stdout.decode("utf-8", "replace"))
        return as_exec_result(done)

    @override
    async def write_file(self, file: str, contents: str | bytes) -> None:
        await self.box.write(file, contents.encode() if isinstance(contents, str) else contents)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    @override
    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        cap = min(self.box.limits.read, SandboxEnvironmentLimits.MAX_READ_FILE_SIZE)
        try:
            data = await self.box.read(file, cap)
        except ValueError as fault:
            raise OutputLimitExceededError(f"{cap} bytes", str(fault)) from None
        return data.decode("utf-8") if text else data

    @override
    def default_polling_interval(self) -> float:
        return 0.2


# As a decorator it would hide the class from the type checker.
sandboxenv(name="bwrap")(BwrapSandbox)


def as_exec_result(done: Completed) -> ExecResult[str]:
    """Return a completed command in Inspect's form; undecodable bytes are replaced, a limit is told on stderr."""
    stderr = done.stderr.decode("utf-8", "replace")
    if done.ended:
        stderr += f"\n(ended by the limit of {done.ended})"
    good, stdout = done.code == 0 and not done.ended, done.stdout.decode("utf-8", "replace")
    return ExecResult(success=good, returncode=done.code, stdout=stdout, stderr=stderr)


class InspectWorkBox:
    """Any Inspect sandbox as the box of :mod:`ai_crucible.tools`, so that its traffic is in Inspect's log."""

    def __init__(self, environment: SandboxEnvironment) -> None:
        self._environment = environment

    async def run(self, argv: list[str], *, stdin: bytes = b"") -> Completed:
        try:
            done = await self._environment.exec(argv, input=stdin or None, timeout_retry=False)
        except TimeoutError as fault:
            return Completed(-9, b"", str(fault).encode(), "time")
        except OutputLimitExceededError as fault:
            return Completed(-9, (fault.truncated_output or "").encode("utf-8", "replace"), b"", "output")
        except SandboxUnavailableError as fault:
            raise BoxDied(str(fault)) from None
        return Completed(done.returncode, done.stdout.encode(), done.stderr.encode())

    async def read(self, path: str) -> bytes:
        return await self._environment.read_file(path, text=False)

    async def write(self, path: str, data: bytes) -> None:
        await self._environment.write_file(path, data)

    async def pack(self) -> bytes:
        """Return the work folder as an archive; in a sandbox of another kind by its own ``tar``."""
        try:
            return await self._environment.as_type(BwrapSandbox).box.pack()
        except TypeError:
            made = await self._environment.exec(["tar", "-cf", _TAR, "."], timeout_retry=False)
            if not made.success:
                raise BoxDied(f"the work folder could not be copied out: {made.stderr[-200:]}") from None
            return await self._environment.read_file(_TAR, text=False)


__all__ = ["BwrapSandbox", "CannotIsolate", "InspectWorkBox"]

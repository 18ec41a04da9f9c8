"""Processes of this server that work batches off."""

from __future__ import annotations

import asyncio
import sys


class BatchWorkers:
    """Processes of this server that work batches off; they end with it, and `assay batch resume` goes on."""

    def __init__(self) -> None:
        self._processes: list[asyncio.subprocess.Process] = []

    async def begin(self, batch_id: str, store_url: str) -> None:
        """Work a batch off in a process of its own."""
        self._processes = [one for one in self._processes if one.returncode is None]
        arguments = ("batch", "resume", batch_id, "--quiet", "--store", store_url)
        self._processes.append(
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "assay", *arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,  # why it ended, it says on this server's stderr
            )
        )

    async def close(self) -> None:
        """End all of them; what is under way is put back."""
        for one in self._processes:
            if one.returncode is None:
                one.terminate()
        await self.ended()

    async def ended(self) -> None:
        """Wait until all of them have ended."""
        await asyncio.gather(*(one.wait() for one in self._processes))

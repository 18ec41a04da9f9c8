"""What a box may use; a command that takes more is ended, not the machine."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

MIB = 1024 * 1024


class BoxLimits(BaseModel):
    """Limits of one box.

    Args:
        processes: processes and threads at one time.
        memory: bytes, resident, of all processes together.
        address_space: bytes of virtual memory a process.
        disk: bytes in the home folder, and as many in the temporary folder.
        inodes: files and folders in either.
        open_files: descriptors a process.
        output: bytes of stdout and stderr of one command together.
        read: bytes of one file read out.
        archive: bytes of the work folder when it is copied out.
        seconds: wall time of one command that names no time of its own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    processes: int = Field(default=64, ge=4, le=4096)
    memory: int = Field(default=512 * MIB, ge=32 * MIB)
    address_space: int = Field(default=4096 * MIB, ge=64 * MIB)
    disk: int = Field(default=64 * MIB, ge=MIB)
    inodes: int = Field(default=20_000, ge=100)
    open_files: int = Field(default=256, ge=16)
    output: int = Field(default=MIB, ge=1024)
    read: int = Field(default=16 * MIB, ge=1024)
    archive: int = Field(default=64 * MIB, ge=MIB)
    seconds: float = Field(default=30.0, gt=0, le=3600)

    def of_a_process(self) -> dict[str, int]:
        """Return what the kernel holds each process to, by the names of ``resource``."""
        held = {"AS": self.address_space, "FSIZE": self.disk, "NOFILE": self.open_files, "NPROC": self.processes}
        return {**held, "CORE": 0}


#: For programs of ours, compilers and installers: they are large, and need no distrust.
OF_OURS = BoxLimits(
    processes=4096, memory=6 << 30, address_space=1 << 46, disk=4 << 30, open_files=4096, output=4 << 20,
    seconds=900,
)  # fmt: skip

"""What a box gives and what it takes, for every backend."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from sandbox import BoxLimits, Root, open_box


async def test_a_fork_bomb_ends_with_its_command(boxes: str) -> None:
    box = await open_box(BoxLimits(seconds=2, processes=32), by=boxes)
    try:
        # How bash ends depends on which of its forks was refused; what counts is what it leaves behind.
        await box.run(["bash", "-c", ":(){ :|:& };:; wait"])
        left = await box.run(["sh", "-c", "ls /proc | grep -c '^[0-9]'"])
        assert int(left.stdout) <= 6
        assert (await box.run(["echo", "still here"])).stdout == b"still here\n"
        crowd = await box.run(["sh", "-c", "for i in $(seq 100); do sleep 1 & done; ls /proc | grep -c '^[0-9]'"])
        assert int(crowd.stdout.split()[-1] if crowd.stdout.split() else 0) <= 32
    finally:
        await box.close()


async def test_the_disk_the_files_and_the_memory_are_bounded(boxes: str) -> None:
    box = await open_box(BoxLimits(disk=4 << 20, inodes=500, memory=64 << 20, seconds=10), by=boxes)
    try:
        fill = "for i in 1 2 3; do for d in . /tmp /dev/shm; do cat /dev/zero > $d/f$i; done; done"
        fill += "; du -sk . /tmp /dev/shm"
        full = await box.run(["sh", "-c", fill])
        sizes = [int(line.split()[0]) for line in full.stdout.decode().splitlines()]
        assert len(sizes) == 3 and max(sizes) <= 4100
        with pytest.raises(OSError):
            await box.write("more", b"x" * (5 << 20))
        await box.run(["sh", "-c", "rm f* /tmp/f*"])
        many = await box.run(["sh", "-c", "i=0; while :; do i=$((i+1)); : > f$i; done"])
        assert many.ended == "files"
        greedy = await box.run(["python3", "-c", "x = bytearray(300 << 20)\nimport time\ntime.sleep(5)"])
        assert greedy.ended == "memory" or greedy.code != 0
    finally:
        await box.close()


async def test_a_command_may_be_held_to_seconds_of_a_processor_however_long_the_clock_runs(boxes: str) -> None:
    box = await open_box(by=boxes)
    try:
        waits = await box.run(["sleep", "0.4"], seconds=60, processor=0.3)
        assert (waits.code, waits.ended) == (0, "")
        # What its children use counts, those that have ended too.
        script = (
            "for i in 1 2 3 4; do sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; done; while :; do :; done"
        )
        works = await box.run(["sh", "-c", script], seconds=60, processor=0.3)
        assert works.ended == "time"
    finally:
        await box.close()


async def test_a_gigabyte_of_output_is_cut_off(boxes: str) -> None:
    box = await open_box(BoxLimits(output=100_000), by=boxes)
    try:
        done = await box.run(["sh", "-c", "yes | head -c 1000000000"])
        assert done.ended == "output"
        assert len(done.stdout) == 100_000
    finally:
        await box.close()


async def test_there_is_no_network(boxes: str, unused_port: int) -> None:
    box = await open_box(by=boxes)
    try:
        script = f"import socket\nsocket.create_connection(('127.0.0.1', {unused_port}), 1)"
        assert (await box.run(["python3", "-c", script])).code != 0
        names = await box.run(["python3", "-c", "import socket; print(socket.if_nameindex())"])
        assert b"eth" not in names.stdout
        script = "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0/tmp/.X11-unix/X0')"
        assert (await box.run(["python3", "-c", script])).code != 0
    finally:
        await box.close()


@pytest.fixture
def unused_port() -> Any:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


async def test_inside_there_is_no_more_power_than_needed(boxes: str) -> None:
    box = await open_box(by=boxes)
    try:
        status = (await box.run(["cat", "/proc/self/status"])).stdout.decode()
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert int(fields["CapEff"], 16) == int(fields["CapBnd"], 16) == 0
        assert fields["NoNewPrivs"] == "1"
        assert (await box.run(["unshare", "-U", "true"])).code != 0
        assert (await box.run(["sh", "-c", "touch /usr/x /x /dev/x /proc/sys/kernel/hostname"])).code != 0
        assert (await box.run(["sh", "-c", "kill -9 1; kill -9 -1"])).code != 0
        environment = (await box.run(["env"])).stdout.decode()
        assert {line.partition("=")[0] for line in environment.splitlines()} <= {
            "PATH", "HOME", "LANG", "TMPDIR", "PWD", "SHLVL", "_",
        }  # fmt: skip
        assert (await box.run(["cat", "/proc/1/environ"])).code != 0
        assert (await box.run(["sh", "-c", "echo forged > /proc/1/fd/1"])).code != 0
    finally:
        await box.close()


async def test_the_kernel_caps_the_box_where_it_lets_us(boxes: str) -> None:
    box = await open_box(BoxLimits(processes=16), by=boxes)
    try:
        if box.group is None:
            pytest.skip("this machine gives no control group to make")
        caps = [folder / "pids.max" for folder in box.group.folders if (folder / "pids.max").exists()]
        assert [int(cap.read_text()) for cap in caps] == [20]
        folders = box.group.folders
    finally:
        await box.close()
    assert not any(folder.exists() for folder in folders)


async def test_pipes_and_devices_do_not_hang_the_channel(boxes: str) -> None:
    box = await open_box(by=boxes)
    try:
        await box.run(["sh", "-c", "mkfifo pipe; ln -s /dev/zero zero; mkdir dir"])
        for name in ("pipe", "zero", "/proc/self/fd/0"):
            with pytest.raises((OSError, ValueError)):
                await box.read(name)
        with pytest.raises(IsADirectoryError):
            await box.read("dir")
        with pytest.raises(OSError):
            await box.write("pipe", b"x")
        assert b"pipe" not in await box.pack()
    finally:
        await box.close()


async def test_box_limits_are_not_the_solvers_to_raise(boxes: str) -> None:
    box = await open_box(BoxLimits(processes=16), by=boxes)
    try:
        assert (await box.run(["sh", "-c", "ulimit -u 1000"])).code != 0
        assert (await box.run(["prlimit", "--nproc=1000:1000", "true"])).code != 0
    finally:
        await box.close()


async def test_what_may_be_written_can_be(boxes: str) -> None:
    box = await open_box(by=boxes)
    try:
        for place in ("a", "/tmp/new/b", "/dev/shm/c"):
            await box.write(place, b"x")
            assert await box.read(place, 9) == b"x"
    finally:
        await box.close()


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty cache of this user's own."""
    with TemporaryDirectory() as folder:
        # Root's boxes run as another user, who has to come there.
        Path(folder).chmod(0o755)
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        yield folder


async def test_a_box_opens_after_the_cache_was_emptied(boxes: str, cache: str) -> None:
    for _ in range(2):
        box = await open_box(root=Root.at(""), by=boxes)
        assert (await box.run(["python3", "-c", "print(6 * 7)"])).stdout == b"42\n"
        await box.close()
        shutil.rmtree(f"{cache}/assay")

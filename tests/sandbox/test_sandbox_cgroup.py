"""Control groups over folders that look like the kernel's: few machines mount version 2 with its controllers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox import BoxLimits
from sandbox.cgroup import enclose

LIMITS = BoxLimits(processes=16, memory=64 << 20, disk=4 << 20)
MEMORY = (64 << 20) + 3 * (4 << 20)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "cgroup"
    folder.mkdir()
    return folder


def delegated(root: Path, controllers: str, own: str = "user.slice/app.slice/us") -> Path:
    """A version 2 tree in which we are in ``own``, and the file that says so."""
    place = root / own
    place.mkdir(parents=True, exist_ok=True)
    (place.parent / "cgroup.subtree_control").write_text(controllers)
    membership = root.parent / "self"
    membership.write_text(f"1:name=systemd:/elsewhere\n0::/{own}\n")
    return membership


def written(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_version_2_caps_memory_and_processes_in_a_group_beside_our_own(root: Path) -> None:
    group = enclose(os.getpid(), LIMITS, root, delegated(root, "cpu memory pids\n"))
    assert group is not None
    (folder,) = group.folders
    assert folder.parent == root / "user.slice/app.slice"
    # The supervisor and bubblewrap are counted on top; files in the box are memory too.
    expected = {"memory.max": str(MEMORY), "pids.max": "20"}
    assert {name: text for name, text in written(folder).items() if name != "cgroup.procs"} == expected
    assert (folder / "cgroup.procs").exists()


@pytest.mark.parametrize("controllers", ["", "cpu io", "memory", "pids"])
def test_version_2_without_both_controllers_gives_no_group(root: Path, controllers: str) -> None:
    assert enclose(os.getpid(), LIMITS, root, delegated(root, controllers)) is None
    assert sorted(folder.name for folder in (root / "user.slice/app.slice").iterdir() if folder.is_dir()) == ["us"]


@pytest.mark.parametrize("own", ["", "us"])
def test_the_root_is_nobodys_to_divide(root: Path, own: str) -> None:
    assert enclose(os.getpid(), LIMITS, root, delegated(root, "memory pids", own)) is None


def test_version_1_makes_a_group_in_each_hierarchy(root: Path) -> None:
    for hierarchy in ("memory", "pids"):
        (root / hierarchy).mkdir()
        (root / hierarchy / "cgroup.procs").touch()
    group = enclose(os.getpid(), LIMITS, root, root / "nothing")
    assert group is not None
    first, second = group.folders
    assert written(first)["memory.limit_in_bytes"] == str(MEMORY) and written(second)["pids.max"] == "20"


def test_a_process_that_cannot_be_moved_leaves_no_group(root: Path) -> None:
    gone = 2**22 + 1
    assert enclose(gone, LIMITS, root, delegated(root, "memory pids")) is None


def test_a_machine_without_control_groups_has_none(root: Path) -> None:
    assert enclose(os.getpid(), LIMITS, root, root / "nothing") is None

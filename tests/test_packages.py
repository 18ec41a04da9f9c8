"""What is handed out: the wheel in a clean environment, the container's files, completion in a real shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.commands import bare_world

ROOT = Path(__file__).parents[1]
COMPOSE: Any = yaml.safe_load((ROOT / "compose.yaml").read_text())
CONTAINERFILE = (ROOT / "Containerfile").read_text()


def test_the_image_runs_as_a_user_without_rights_and_brings_no_secrets() -> None:
    last = CONTAINERFILE.rpartition("\nFROM ")[2]
    (user,) = re.findall(r"^USER (\S+)$", last, re.MULTILINE)
    assert user.split(":")[0].isdigit() and int(user.split(":")[0]) > 0
    assert "ENTRYPOINT" in last[last.index("USER") :] and "bubblewrap" in last
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", CONTAINERFILE, re.MULTILINE)
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {name for line in copied for name in line.split()} == sent
    for name in sent:
        assert (ROOT / name).exists()
    wanted = set(re.findall(r"^ARG EXTRAS=([\w,]+)$", CONTAINERFILE, re.MULTILINE)[0].split(","))
    assert wanted <= set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", ["serve", "worker"])
def test_each_service_is_locked_down(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"] and service["user"] != "0:0"
    assert service["security_opt"] == ["no-new-privileges:true"] and service["tmpfs"] == ["/tmp"]
    assert service["environment"]["ASSAY_STORE"].startswith("postgresql://")
    # It writes to volumes alone, and each of them is declared.
    assert {volume.split(":")[0] for volume in service["volumes"]} <= set(COMPOSE["volumes"])
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


@pytest.mark.needs("make", "awk")
def test_release_notes_are_the_versions_part_of_the_changelog() -> None:
    command = ["make", "--silent", "notes", "VERSION=0.1.0"]
    notes = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    part = (ROOT / "CHANGELOG.md").read_text().partition("## [0.1.0]")[2].partition("\n")[2]
    assert notes.strip() == part.partition("\n## ")[0].strip() != ""


def test_no_password_stands_in_the_compose_file() -> None:
    settings = [pair for service in COMPOSE["services"].values() for pair in service["environment"].items()]
    secret = [value for name, value in settings if name.endswith(("PASSWORD", "TOKEN"))]
    assert len(secret) == 2 and all(value.startswith("${") and ":?" in value for value in secret)


async def test_the_commands_of_the_compose_file_are_there(commands: Any, tmp_path: Path) -> None:
    env = bare_world(tmp_path)
    for command in (COMPOSE["services"]["worker"]["command"], ["serve"]):
        done = await commands.run(*command, "--help", cwd=tmp_path, env=env)
        assert done.code == 0, done.err


@pytest.mark.process
@pytest.mark.needs("bash")
def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    place = os.environ.get("PYTHONPATH", "")
    script = tmp_path / "assay"
    script.write_text(f"#!{sys.executable}\nfrom assay.cli import main\nmain()\n")
    script.chmod(0o755)
    shown = subprocess.run(
        [
            *("bash", "--norc", "-c"),
            "source <(assay completion bash); COMP_WORDS=(assay serv); COMP_CWORD=1; _assay_completion assay; "
            "COMP_WORDS=(assay serve keys add --bud); COMP_CWORD=4; _assay_completion assay; "
            'echo "${COMPREPLY[@]}"',
        ],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": place, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == ["serve", "--budget"]


@pytest.mark.long
@pytest.mark.process
@pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling, which makes the wheel, is not installed")
def test_the_wheel_is_small_and_plays_a_demo_in_a_clean_environment(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    made = tmp_path / "wheels"
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(made), str(ROOT)],
        check=True,
    )
    (wheel,) = made.iterdir()
    # Most of it are the puzzles of the trial: statements, repositories, and what is known to be right and wrong.
    assert wheel.stat().st_size <= 4 * 2**20
    names = zipfile.ZipFile(wheel).namelist()
    beside = [name for name in names if ".data/" in name]
    assert [name.partition(".data/data/")[2] for name in beside] == ["share/man/man1/assay.1"]
    packages = {name.split("/")[0] for name in names if ".dist-info" not in name and name not in beside}
    assert packages == {
        "ai_crucible",
        "assay",
        "criticality",
        "crucible",
        "crux",
        "fire_circle",
        "llm_runtime",
        "sandbox",
    }
    assert "assay/py.typed" in names and any(name.startswith("assay/web/templates/") for name in names)
    assert any(name.startswith("assay/api/mcp/prompts/") for name in names)
    assert any(name.endswith(".data/data/share/man/man1/assay.1") for name in names)
    clean = tmp_path / "clean"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(clean)], check=True)
    inside = sysconfig.get_path("purelib", vars={"base": str(clean), "platbase": str(clean)})
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", inside, str(wheel)], check=True)
    # What it depends on comes from here, for there is no network; it itself does not: editable installs are not
    # found in this way.
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": sysconfig.get_path("purelib")}
    python = str(clean / "bin" / "python")
    where = [python, "-c", "import assay; print(assay.__file__)"]
    assert subprocess.run(where, env=env, cwd=tmp_path, capture_output=True, text=True).stdout.startswith(str(clean))
    played = subprocess.run(
        [python, "-m", "assay", "demo", "council", "--speed", "0"],
        **{"env": env, "cwd": tmp_path, "capture_output": True, "text": True},
    )
    assert played.returncode == 0, played.stderr
    assert len(played.stdout) > 500


def test_what_is_installed_is_pinned_and_hashed_and_what_is_declared_is_no_newer() -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    text = (ROOT / "constraints.txt").read_text()
    assert re.findall(r"^# (.*)", text, re.MULTILINE)[1:] == ["web", "mcp scale", "dev", "dense"] and "://" not in text
    blocks = re.findall(r"^\w.*(?:\n    .*)*", text, re.MULTILINE)
    pins: dict[str, list[str]] = {}
    for block in blocks:
        pin, *hashes = block.split(" \\\n    ")
        assert hashes and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in hashes), pin
        requirement = Requirement(pin)
        (exact,) = requirement.specifier
        assert exact.operator == "=="
        pins.setdefault(canonicalize_name(requirement.name), []).append(exact.version)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(one for extra in extras for one in extras[extra])]
    for requirement in map(Requirement, listed):
        if requirement.name != "assay":
            assert any(map(requirement.specifier.contains, pins[canonicalize_name(requirement.name)])), requirement


@pytest.mark.needs("make")
def test_make_installs_nothing_without_a_hash() -> None:
    for target in ("install", "test"):
        command = ["make", "--dry-run", "--always-make", target]
        printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        installs = [line for line in printed.replace("\\\n", " ").split("&&") if "pip install" in line]
        assert installs and all(
            "--require-hashes" in one or "--no-deps --no-build-isolation" in one for one in installs
        )

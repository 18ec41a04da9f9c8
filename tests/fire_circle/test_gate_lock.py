"""A lock by content: git joins the locks of two branches without a conflict, and nothing is asked twice."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
from pathlib import Path

import pytest

from fire_circle.gates.lock import Lock, LockedVerdict, entry_of, known, lock_of, read_lock, write_lock
from fire_circle.gates.trust import SIGNERS, enrol, trust
from fire_circle.gates.verdicts import CaseVerdict
from llm_runtime.errors import ConfigurationError
from llm_runtime.store.signing import KeySigner

HISTORIES = int(os.environ.get("GATE_HISTORIES", "4"))


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def locked(folder: Path, signer: KeySigner, day: int, rng: random.Random) -> int:
    """Judge what the lock does not hold of the suite, a file a case, as a gate does; return how many were asked."""
    place = folder / "assay.lock"
    cases = {digest_of(file.read_text()) for file in folder.glob("cases/*")}
    lock = read_lock(place)
    missing = cases - known(lock, cases, trust(place, signer, {}).keys, offline=False).keys()
    new = [
        entry_of(one, "s", CaseVerdict(id=one[:8], falsehood=rng.random()), "r", f"2026-11-{day:02}", signer)
        for one in missing
    ]
    write_lock(place, lock | Lock(new))
    enrol(place, signer)
    return len(missing)


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_two_branches_are_joined_without_a_conflict_and_without_a_call(tmp_path: Path, seed: int) -> None:
    rng, folder = random.Random(seed), tmp_path / "repo"
    (folder / "cases").mkdir(parents=True)
    ada, bob = KeySigner(tmp_path / "ada.key"), KeySigner(tmp_path / "bob.key")
    for number in range(rng.randint(0, 6)):
        (folder / "cases" / f"{number}.txt").write_text(f"case {number}")
    (folder / SIGNERS).write_text(
        "".join(
            f"{one.sign(LockedVerdict(digest='0' * 64, date='2026-11-01', verdict={}).head()).public_key.hex()} x\n"
            for one in (ada, bob)
        )
    )
    git(folder, "init", "-qb", "main")
    locked(folder, ada, 1, rng)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    git(folder, "branch", "other")
    for branch, signer, half in (("main", ada, 0), ("other", bob, 1)):
        git(folder, "checkout", "-q", branch)
        (folder / "cases").mkdir(exist_ok=True)
        for step in range(rng.randint(1, 4)):
            own = [file for file in sorted(folder.glob("cases/*")) if (int(file.stem, 36) % 2) == half]
            match rng.choice(("add", "both", "drop", "change", "rename")):
                case "drop" if own:
                    rng.choice(own).unlink()
                case "change" if own:
                    rng.choice(own).write_text(f"{branch} {step} {rng.random()}")
                case "rename" if own:
                    one = rng.choice(own)
                    one.rename(one.with_name(f"{1000 + 2 * rng.randrange(1000) + half}.txt"))
                case "both":  # the same text on both branches, judged on each
                    (folder / "cases" / f"{2000 + 2 * step + half}.txt").write_text(f"shared {step}")
                case _:
                    (folder / "cases" / f"{4000 + 2 * step + half}.txt").write_text(f"{branch} {rng.random()}")
            locked(folder, signer, rng.randint(2, 20), rng)
            git(folder, "add", "-A")
            git(folder, "commit", "-qm", f"{branch} {step}", "--allow-empty")
    git(folder, "merge", "-q", "-m", "joined", "main")
    assert "<<<" not in (folder / "assay.lock").read_text()
    for signer in (ada, bob):
        assert locked(folder, signer, 21, rng) == 0


@pytest.fixture
def signer(tmp_path: Path) -> KeySigner:
    return KeySigner(tmp_path / "own.key")


def entry(signer: KeySigner, falsehood: float, date: str) -> LockedVerdict:
    return entry_of("a" * 64, "s", CaseVerdict(id="c", falsehood=falsehood), "r", date, signer)


def test_of_two_verdicts_the_newest_counts_and_of_a_day_the_gravest(signer: KeySigner) -> None:
    held = [entry(signer, 0.9, "2026-11-01"), entry(signer, 0.1, "2026-11-02"), entry(signer, 0.4, "2026-11-02")]
    keys = [signer.public_key.hex()]
    for order in (held, held[::-1]):
        ((_, verdict),) = Lock(order).held(["a" * 64], keys).values()
        assert verdict.falsehood == 0.4 and verdict.from_lock


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "b" * 64},
        {"date": "2999-01-01"},
        {"run": "other"},
        {"verdict": {"falsehood": 0.0}},
        {"key": "c" * 64},
        {"signature": "d" * 128},
        {"signature": ""},
    ],
)
def test_an_entry_counts_as_it_was_signed(signer: KeySigner, change: dict[str, object]) -> None:
    one = entry(signer, 0.9, "2026-11-01")
    keys = [signer.public_key.hex(), "c" * 64]
    assert one.model_copy(update={"case": "renamed", "suite": "moved"}).genuine(keys)
    assert one.model_copy(update=change).genuine(keys) is None


def test_what_a_failed_merge_left_behind_is_read_as_both_sides(signer: KeySigner) -> None:
    ours, theirs = (entry(signer, f, "2026-11-01").model_dump_json() for f in (0.1, 0.9))
    lock = lock_of(f"<<<<<<< ours\n{ours}\n=======\n{theirs}\n>>>>>>> theirs\n", "assay.lock")
    ((_, verdict),) = lock.held(["a" * 64], [signer.public_key.hex()]).values()
    assert verdict.falsehood == 0.9


def test_a_lock_of_before_says_how_to_lock_anew() -> None:
    with pytest.raises(ConfigurationError, match=r"a lock of before.* lock anew"):
        lock_of('{\n "keys": [],\n "suites": {}\n}\n', "assay.lock")

"""A workshop with finished trials and its bundle, made of nothing but a ledger and logs, without Inspect."""

from __future__ import annotations

import hashlib
import itertools
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ai_crucible import Ledger, Workshop
from ai_crucible.archives import archive_of
from ai_crucible.attestation import file_digest
from ai_crucible.bundle import make_bundle
from ai_crucible.events import AttemptGraded, TrialLogged, TrialPlanned, TrialsCompared, Work
from ai_crucible.keeping import keep
from ai_crucible.versions import environment_digest, seed_of
from llm_runtime.events import GENESIS, Event, link, parse_event
from llm_runtime.events.chain import written
from llm_runtime.store.anchor import Head
from llm_runtime.store.signing import KeySigner

PARTS = {"box": "b" * 64, "grader": "c" * 64}


def log_of(path: Path, attempts: Sequence[AttemptGraded], seed: int = 0) -> Path:
    """Write a log as Inspect writes one, as far as a bundle reads it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as log:
        for attempt in attempts:
            score = {"value": float(attempt.passed or 0), "metadata": {"work": attempt.work}}
            scores = {"oracle_scorer": score} if attempt.passed is not None else {}
            about = attempt.model_dump(include={"kind", "arm", "puzzle_digest", "oracle_digest"})
            sample = {
                "id": attempt.puzzle,
                "epoch": attempt.epoch,
                "scores": scores,
                "metadata": {**about, "anchor": None, "seed": seed},
            }
            log.writestr(f"samples/{attempt.puzzle}_epoch_{attempt.epoch}.json", json.dumps(sample))
    return path


@dataclass
class Bench:
    """A workshop, its ledger's signer, and how to finish a trial in it."""

    shop: Workshop

    @classmethod
    def at(cls, folder: Path) -> Bench:
        ticks = itertools.count(1_700_000_000_000)
        (folder / "keys").mkdir(parents=True, exist_ok=True)
        signer = KeySigner(folder / "keys" / "signing.key")
        ledger = Ledger(folder / "shop" / "ledger.jsonl", folder / "anchors", signer, lambda: next(ticks))
        return cls(Workshop(folder / "shop", ledger))

    def trial(self, name: str, outcomes: str = "p.p", *, log: str = "2026-01-01_a.eval", **planned: Any) -> None:
        """Plan and finish a trial of one puzzle: ``p`` passed, ``.`` failed, ``x`` died."""
        plan = TrialPlanned(
            trial=name, puzzles={"sum": "1" * 64}, model="m", k=len(outcomes), oracles={"sum": "2" * 64},
            environment=PARTS,
        )  # fmt: skip
        plan = plan.model_copy(update=planned)
        verdicts = {"p": True, ".": False, "x": None}
        works = [self.left(f"{one}\n".encode()) if one != "x" else None for one in outcomes]
        attempts = [
            self.attempt(name, number, verdicts[one], work=work)
            for number, (one, work) in enumerate(zip(outcomes, works, strict=True), 1)
        ]
        path = log_of(self.shop.folder / "logs" / name / log, attempts, seed_of(name, plan.nonce or ""))
        self.shop.ledger.append([plan, *attempts, self.logged(name, path)])

    def left(self, data: bytes) -> Work:
        """Keep a file as what an attempt left."""
        return keep(self.shop.folder, archive_of({}), archive_of({"total.py": data})) or {}

    @staticmethod
    def attempt(trial: str, number: int, passed: bool | None = True, **other: Any) -> AttemptGraded:
        event = AttemptGraded(
            trial=trial, puzzle="sum", kind="k", epoch=number, model="m", arm="neutral", passed=passed,
            sample_digest=hashlib.sha256(f"{trial} {number}".encode()).hexdigest(), puzzle_digest="1" * 64,
            oracle_digest="2" * 64, environment=environment_digest(PARTS),
        )  # fmt: skip
        return event.model_copy(update=other)

    def logged(self, trial: str, path: Path) -> TrialLogged:
        name = path.relative_to(self.shop.folder).as_posix()
        size = path.stat().st_size
        return TrialLogged(trial=trial, log=name, sha256=file_digest(path), size=size, status="success")

    def compare(self, *trials: str) -> None:
        """Write down that trials were compared."""
        self.shop.ledger.append(
            [TrialsCompared(trials=dict.fromkeys(trials, "m"), pairs=(), after=3, planned=3, decided=False)]
        )

    def bundle(self, *trials: str) -> Path:
        return make_bundle(self.shop, trials or ("one",), self.shop.folder.parent / "trial.assay")


@dataclass
class Opened:
    """A bundle taken apart, to be changed and put together again."""

    entries: dict[str, bytes]

    @classmethod
    def of(cls, path: Path) -> Opened:
        with zipfile.ZipFile(path) as archive:
            return cls({name: archive.read(name) for name in archive.namelist()})

    @property
    def lines(self) -> list[bytes]:
        return self.entries["ledger.jsonl"].splitlines(keepends=True)

    @lines.setter
    def lines(self, lines: Sequence[bytes]) -> None:
        self.entries["ledger.jsonl"] = b"".join(lines)

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads(self.entries["bundle.json"])

    @manifest.setter
    def manifest(self, manifest: dict[str, Any]) -> None:
        self.entries["bundle.json"] = json.dumps(manifest).encode()

    @property
    def events(self) -> list[Event]:
        return [parse_event(json.loads(line)["body"]) for line in self.lines]

    @property
    def log(self) -> str:
        return next(name for name in self.entries if name.startswith("logs/"))

    @property
    def work(self) -> str:
        return next(name for name in self.entries if name.startswith("works/"))

    def chain(self, events: Sequence[Event]) -> None:
        """Write the ledger anew, with a chain that holds."""
        digest, lines = GENESIS, list[bytes]()
        for seq, event in enumerate(events, 1):
            record = link(digest, seq, 1_700_000_000_000 + seq, event)
            digest = record.digest
            lines.append(written(record))
        self.lines = lines

    def sign(self, signer: Any) -> None:
        """Sign the end of the ledger as it is now."""
        last = json.loads(self.lines[-1])
        name = self.manifest["head"]["run_id"]
        head = signer.sign(Head(name, len(self.lines), bytes.fromhex(last["digest"])))
        self.manifest = {**self.manifest, "head": head.to_dict()}

    def write(self, path: Path) -> Path:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, data in self.entries.items():
                entry = zipfile.ZipInfo(name)
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, data)
        return path

"""A study's folder: what it is a study of, and the files of its passes.

::

    study.json              what is studied; the same command goes on with it
    items.jsonl             the data set, as it is judged
    results.jsonl           a line for each judged item
    without-chair.jsonl     ablation        control.jsonl      independent samples
    pairs.jsonl             minimal pairs   overdefence.jsonl  harmless prompts      hijack.jsonl  attacks on judges
    *.calls                 every answer that was paid for
    summary.json, report.html, report.md
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.protocols.fire_circle.study.items import Source, Written, columns_of, write_items
from assay.report.places import write_whole
from fire_circle import FireCircleConfig
from fire_circle.measurement.ablation import without_chair
from fire_circle.study import Study
from llm_runtime.errors import ConfigurationError, StoreDamaged, StoreUnwritable
from llm_runtime.wrappers.budgeted import Spend


class Manifest(BaseModel):
    """What is studied.

    Args:
        title: for people.
        data: the name of the data set.
        items: rows taken from it.
        labelled: whether every row says if it is a violation.
        digest: of the rows; with ``engine`` and ``routes`` what makes two studies the same.
        engine: the circle, as in a run's settings.
        routes: models that ``--model`` and ``--seat`` put in place of others.
        seed: every fence, split and resample derives from it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    title: str
    data: str
    items: int
    labelled: bool
    digest: str
    engine: dict[str, Any]
    routes: dict[str, str]
    seed: int

    def config(self) -> FireCircleConfig:
        """The circle."""
        from assay.protocols.fire_circle.task import configured

        _, circle = configured(self.engine)
        if circle is None:
            raise StoreDamaged("study.json names no circle")
        return circle


class StudyFolder:
    """The files of one study."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def items(self) -> Path:
        """The data set, as it is judged."""
        return self.path / "items.jsonl"

    def file(self, name: str) -> Path:
        """A file in the folder."""
        return self.path / name

    def manifest(self) -> Manifest | None:
        """What the folder is a study of; ``None`` where it holds none yet.

        Raises:
            StoreDamaged: ``study.json`` is something else.
        """
        place = self.path / "study.json"
        if not place.exists():
            return None
        try:
            return Manifest.model_validate_json(place.read_bytes())
        except (OSError, ValidationError, ValueError):
            raise StoreDamaged(f"{place} is not a study's; choose another --out") from None

    def open(
        self, source: Source, engine: dict[str, Any], routes: dict[str, str], seed: int | None, drawn: int
    ) -> Manifest:
        """Begin a study here, or go on with the same one.

        Args:
            seed: the one asked for; ``None`` takes that of the study which is here, or else ``drawn``.

        Raises:
            ConfigurationError: the folder holds another study, or something else.
            DataError: the data set does not fit; an earlier study is left as it was.
        """
        known = self.manifest()
        if known is None and self.path.exists() and any(self.path.iterdir()):
            raise ConfigurationError(f"{self.path} is not empty and holds no study; choose another --out")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise StoreUnwritable(f"{self.path} cannot be made: {fault.strerror}") from None
        fresh = self.path / "items.new.jsonl"
        chars = (
            Manifest(title="", data="", items=0, labelled=False, digest="", engine=engine, routes={}, seed=0)
            .config()
            .base_config.max_layer_chars
        )
        written = write_items(fresh, source.rows(chars))
        wanted = self._manifest(source, written, engine, routes, drawn if seed is None else seed)
        if known is not None:
            different = _different(known, wanted, seed)
            if different:
                fresh.unlink()
                raise ConfigurationError(f"{self.path} holds a study with other {different}; choose another --out")
            fresh.unlink()
            return known
        fresh.replace(self.items)
        write_whole(self.path / "study.json", json.dumps(wanted.model_dump(), indent=1, ensure_ascii=False) + "\n")
        return wanted

    def _manifest(
        self, source: Source, written: Written, engine: dict[str, Any], routes: dict[str, str], seed: int
    ) -> Manifest:
        name = source.data if source.data.startswith("@") else Path(source.data).name
        return Manifest(
            title=f"Does dialogue help on {name}?",
            data=name,
            items=written.items,
            labelled=written.labelled,
            digest=written.digest,
            engine=engine,
            routes=routes,
            seed=seed,
        )

    def study(
        self, manifest: Manifest, name: str = "results", items: str = "items", *, chair: bool = True
    ) -> Study:
        """A pass over a file of items.

        Args:
            name: of its results.
            items: of its items; others than the data set's own have no labels that count.
            chair: whether the circle keeps its chair.
        """
        config = manifest.config()
        return Study(
            data=self.file(f"{items}.jsonl"),
            columns=columns_of(manifest.labelled if items == "items" else False),
            config=config if chair else without_chair(config),
            out=self.file(f"{name}.jsonl"),
            seed=manifest.seed,
        )

    def spent(self) -> Spend:
        """What the answers in the folder took, for a budget that holds over interruptions."""
        spent = Spend()
        for journal in sorted(self.path.glob("*.calls")):
            with journal.open(encoding="utf-8") as lines:
                for line in lines:
                    if not line.endswith("\n"):
                        break
                    reply = json.loads(line).get("reply")
                    if reply:
                        usage = reply["usage"]
                        spent.add(Spend(reply["cost"] or 0, usage["input_tokens"] + usage["output_tokens"], 1))
        return spent


def _different(known: Manifest, wanted: Manifest, seed: int | None) -> str:
    """What tells two studies apart, in a word."""
    if known.digest != wanted.digest:
        return f"data ({known.data}, {known.items} rows)"
    if known.engine != wanted.engine or known.routes != wanted.routes:
        return "models or settings"
    return "seed" if seed is not None and known.seed != seed else ""

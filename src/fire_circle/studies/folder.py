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

from pydantic import Field, ValidationError

from fire_circle import FireCircleConfig
from fire_circle.binding import bound_to, prompts_in_force
from fire_circle.config import EvaluationConfig
from fire_circle.measurement.ablation import without_chair
from fire_circle.studies.items import Source, Written, columns_of, write_items
from fire_circle.study import Study
from llm_runtime.errors import ConfigurationError, StoreDamaged, StoreUnwritable
from llm_runtime.files import saying, write_atomic
from llm_runtime.models import Model
from llm_runtime.rewording import instead
from llm_runtime.wrappers.accounts import Spend
from llm_runtime.wrappers.journal import whole_lines

PASSES = {
    "results": ("circle", "circle"),
    "without-chair": ("without chair", "without chair"),
    "pairs": ("pairs", "minimal pairs"),
    "overdefence": ("overdefence", "over-defence"),
    "hijack": ("hijack", "hijack"),
}
"""The passes by the names of their files: what the log calls each, and what the report does."""


class Manifest(Model):
    """What is studied.

    Args:
        title: for people.
        data: the name of the data set.
        items: rows taken from it.
        labelled: whether every row says if it is a violation.
        digest: of the rows; with ``engine`` and ``routes`` what makes two studies the same.
        engine: the circle: its models, and what differs from the defaults.
        routes: models that ``--model`` and ``--seat`` put in place of others.
        prompts: the number of what circles ask and the digest of its words; empty in older studies.
        seed: every fence, split and resample derives from it.
    """

    version: int = 1
    title: str
    data: str
    items: int
    labelled: bool
    digest: str
    engine: dict[str, Any]
    routes: dict[str, str]
    seed: int
    prompts: str = Field(default="", exclude_if=lambda digest: not digest)

    def bound_to(self) -> dict[str, object]:
        """Return all that decides scores, by name, as it was when the study began."""
        return {**bound_to(self.config(), self.routes), "prompts": self.prompts}

    def config(self) -> FireCircleConfig:
        """Return the circle.

        Raises:
            StoreDamaged: ``engine`` is no circle's.
        """
        with instead(StoreDamaged("study.json names no circle"), ConfigurationError, KeyError, TypeError):
            circle, calls = self.engine.get("circle", {}), self.engine.get("calls", {})
            return FireCircleConfig(**circle, models=self.engine["models"], base_config=EvaluationConfig(**calls))


class StudyFolder:
    """The files of one study."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def items(self) -> Path:
        """The data set, as it is judged."""
        return self.path / "items.jsonl"

    def file(self, name: str) -> Path:
        """Return a file in the folder."""
        return self.path / name

    def manifest(self) -> Manifest | None:
        """Return what the folder is a study of; ``None`` where it holds none yet.

        Raises:
            StoreDamaged: ``study.json`` is something else.
        """
        place = self.path / "study.json"
        if not place.exists():
            return None
        refused = StoreDamaged(f"{place} is not a study's; choose another --out")
        with instead(refused, OSError, ValidationError, ValueError):
            return Manifest.model_validate_json(place.read_bytes())

    def check(self, written: Written) -> None:
        """Refuse a folder that holds another study's data, or something else.

        Raises:
            ConfigurationError: it does.
        """
        known = self.manifest()
        if known is not None and known.digest != written.digest:
            raise self._other(f"data ({known.data}, {known.items} rows)")
        free = not self.path.exists() or (self.path.is_dir() and all(map(_is_draft, self.path.iterdir())))
        if known is None and not free:
            raise ConfigurationError(f"{self.path} is not empty and holds no study; choose another --out")

    def known(self, circle: FireCircleConfig, routes: dict[str, str], seed: int | None = None) -> Manifest | None:
        """Return what the folder is a study of, where that is this study; ``None`` where there is none yet.

        Args:
            routes: models that are put in place of others.
            seed: the one asked for; ``None`` takes any.

        Raises:
            ConfigurationError: the folder holds another study.
        """
        known = self.manifest()
        if known is None:
            return None
        if known.config() != circle or known.routes != routes:
            raise self._other("models or settings")
        if seed is not None and known.seed != seed:
            raise self._other("seed")
        if known.prompts not in ("", prompts_in_force()):
            raise self._other("prompts")
        return known

    def _other(self, what: str) -> ConfigurationError:
        return ConfigurationError(f"{self.path} holds a study with other {what}; choose another --out")

    def open(self, source: Source, circle: FireCircleConfig, routes: dict[str, str], seed: int) -> Manifest:
        """Begin a study here, or go on with the same one, its seed and data as they are.

        Raises:
            ConfigurationError: the folder holds another study.
            DataError: the data set does not fit.
            StoreUnwritable: the folder cannot be written.
        """
        known = self.known(circle, routes)
        if known is not None:
            return known
        with saying(f"{self.path} cannot be made", StoreUnwritable):
            self.path.mkdir(parents=True, exist_ok=True)
        written = write_items(self.items, source.rows(circle.base_config.max_layer_chars))
        calls = circle.base_config.model_dump(mode="json", exclude_defaults=True)
        differs = circle.model_dump(mode="json", exclude_defaults=True, exclude={"models", "base_config"})
        manifest = Manifest(
            title=title_of_data(source.data),
            data=_name_of(source.data),
            items=written.items,
            labelled=written.labelled,
            digest=written.digest,
            engine={"mode": "fire_circle", "circle": differs, "calls": calls, "models": list(circle.models)},
            routes=routes,
            seed=seed,
            prompts=prompts_in_force(),
        )
        write_atomic(self.file("study.json"), json.dumps(manifest.model_dump(), indent=1, ensure_ascii=False) + "\n")
        return manifest

    def study(self, manifest: Manifest, name: str = "results") -> Study:
        """Return one of :data:`PASSES`. Labels count for the data set's own items alone."""
        own, config = name in ("results", "without-chair"), manifest.config()
        data = self.items if own else self.file(f"{name}.items.jsonl")
        columns = columns_of(manifest.labelled and own)
        config = without_chair(config) if name == "without-chair" else config
        return Study(data=data, columns=columns, config=config, out=self.file(f"{name}.jsonl"), seed=manifest.seed)

    def spent(self) -> Spend:
        """Return what the answers in the folder took, for bounds that hold over all its runs.

        Raises:
            StoreDamaged: a journal of answers is something else.
        """

        def read(line: Any) -> Spend:
            if not (reply := line.get("reply")):
                return Spend()
            usage = reply["usage"]
            return Spend(reply["cost"] or 0, usage["input_tokens"] + usage["output_tokens"], 1)

        spent = Spend()
        for journal in sorted(self.path.glob("*.calls")):
            for each in whole_lines(journal, "an answer that was kept; move the file away", read):
                spent = spent.plus(each)
        return spent


def _is_draft(place: Path) -> bool:
    """Say whether a folder may hold this whose study was killed before it began."""
    return place.name in ("items.jsonl", ".items.jsonl.new") or place.name.startswith(".writing-")


def title_of_data(data: str) -> str:
    """Return the question that a study of a data set answers."""
    return f"Does dialogue help on {_name_of(data)}?"


def _name_of(data: str) -> str:
    return data if data.startswith("@") else Path(data).name

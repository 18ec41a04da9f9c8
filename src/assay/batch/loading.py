"""Reading a job file: whatever can be refused without its input is refused here, in one sentence."""

from __future__ import annotations

from decimal import Decimal
from math import prod
from pathlib import Path
from typing import Any

from assay.batch.configurations import combinations
from assay.batch.jobfile import JobFile
from assay.fields import specs_of
from assay.hooks import hooks_of
from assay.registry import run_types
from llm_runtime.errors import ConfigurationError
from llm_runtime.keys import read_toml
from llm_runtime.models import fits
from llm_runtime.rewording import reworded

#: Combinations that a grid may have; more is taken for a slip.
MOST_CONFIGURATIONS = 10_000


def load_job_file(path: Path) -> JobFile:
    """Read and check a job file; nothing of its input is read yet.

    Raises:
        ConfigurationError: it cannot be read, holds something unknown, or asks for what is not possible; says
            which and where.
    """
    data = read_toml(path, Decimal, there=True)
    with reworded(str(path), ConfigurationError):
        job_file = checked(_plain(data, keep=("budget",)))
    place = job_file.input.model_copy(update={"path": path.parent / job_file.input.path})
    return job_file.model_copy(update={"input": place})


def checked(data: dict[str, Any]) -> JobFile:
    """Make a job file of its data.

    Raises:
        ConfigurationError: it holds something unknown, or asks for what is not possible; says where.
    """
    with fits(""):
        job_file = JobFile.model_validate(data)
    _check(job_file)
    for _ in combinations(job_file):
        pass
    return job_file


def _check(job_file: JobFile) -> None:
    kind = job_file.kind
    if "batch" not in kind.doors:
        possible = ", ".join(run.name for run in run_types().values() if "batch" in run.doors)
        raise ConfigurationError(f"no batch can be made of {kind.name}; of these it can: {possible}")
    specs = {name: spec for name, spec in specs_of(hooks_of(kind).task).items() if not spec.ui.hidden}
    mapped = job_file.input.columns
    if unknown := sorted(set(mapped) - set(specs)):
        raise ConfigurationError(
            f"input.columns: a task of {kind.name} has no field {unknown[0]}; it has: {', '.join(specs)}"
        )
    if missing := [name for name, spec in specs.items() if spec.required and name not in mapped]:
        raise ConfigurationError(f"input.columns: {missing[0]} needs a column")
    if empty := [name for name, values in job_file.grid.items() if not values]:
        raise ConfigurationError(f"grid.{empty[0]}: there is no value to try")
    if (count := prod(map(len, job_file.grid.values()))) > MOST_CONFIGURATIONS:
        raise ConfigurationError(f"grid: {count} combinations; the most is {MOST_CONFIGURATIONS}")


def _plain(value: Any, keep: tuple[str, ...] = ()) -> Any:
    """Return decimals as floats, but for the tables in ``keep``: money is never a float."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: inner if key in keep else _plain(inner) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [_plain(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return value

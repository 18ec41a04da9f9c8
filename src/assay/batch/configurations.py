"""The combinations of a grid: how a job goes, as models, as the ledger keeps it, and as ids are drawn from it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256
from typing import Any, cast

from pydantic import BaseModel

from assay.batch.jobfile import JobFile
from assay.fields import read
from assay.hooks import hooks_of
from assay.launch import check_terms
from assay.launch.behaviours import todays
from assay.protocol import RunType
from assay.registry import Prepared, prepared, stored
from assay.terms import Terms, configured
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError
from llm_runtime.settings import Settings
from llm_runtime.structs import Struct

#: Bounds of a job. They do not change what it comes to, so a job keeps its id when they are raised.
_BOUNDS = ("budget", "max_calls", "deadline")
_TERMS = {name: f"terms.{name}" for name in Terms.model_fields}


class Configuration(Struct):
    """One combination.

    Args:
        data: as the ledger keeps it: ``{"options", "terms", "added", "behaviours"}``, where ``added`` is what the
            kind of run completed the options with, and ``behaviours`` are the numbers of its engines, which none
            of before 0.2 names; of an older job file ``{"engine", "model", "max_tokens"}``.
        options: for the kind of run.
        terms: of each job.
        digest: SHA-256 over all of it that a result depends on.
    """

    data: dict[str, Any]
    options: BaseModel
    terms: Terms
    digest: bytes = b""


def combinations(job_file: JobFile, settings: Settings | None = None) -> Iterator[Configuration]:
    """Yield every combination of the grid in the order of the file.

    Args:
        settings: the user's own, whose model and bound stand where the job file names none.

    Raises:
        ConfigurationError: an option or a bound is not possible; says which.
    """
    own = configured(settings or Settings()).model_copy(update={"seats": {}})
    for values in itertools.product(*job_file.grid.values()):
        yield _combination(job_file, dict(zip(job_file.grid, values, strict=True)), own)


def completed(job_file: JobFile, configuration: Configuration, task: BaseModel) -> Configuration:
    """Return a configuration with whatever else its kind of run adds to the options, and with its digest.

    Args:
        task: any that can be run.

    Raises:
        LlmRuntimeError: the options do not fit together, or this machine lacks what they need.
    """
    options = prepared(Prepared(job_file.kind, task, configuration.options)).options
    whole, data = options.model_dump(mode="json", exclude_defaults=True), configuration.data
    if job_file.older:
        # Ids were drawn from personas as they were read, beside the engine.
        engine = {**data["engine"]}
        data = {**data, "engine": engine, **({"personas": whole["panel"]} if engine.pop("personas", None) else {})}
        first = dict.fromkeys(todays(job_file.kind.name), 1)
        return replace(configuration, data={**data, "behaviours": first}, options=options, digest=_digest(data))
    bounds = [name for name in _BOUNDS if f"terms.{name}" not in job_file.grid]
    terms = {name: value for name, value in data["terms"].items() if name not in bounds}
    added = {name: value for name, value in whole.items() if data["options"].get(name) != value}
    digest = _digest({"options": whole, "terms": terms})
    data = {**data, "added": added, "behaviours": todays(job_file.kind.name)}
    return replace(configuration, data=data, options=options, digest=digest)


def run_of(kind: str, task: Mapping[str, Any], data: Mapping[str, Any]) -> Prepared:
    """Return a job's run from what the ledger keeps, whatever version entered it.

    Raises:
        ConfigurationError: there is no such kind of run, or its task or options do not fit.
    """
    if "options" not in data:
        return stored(kind, task, data)
    return stored(kind, task, {"options": {**data["options"], **data.get("added", {})}}, data.get("behaviours"))


def terms_of(data: Mapping[str, Any]) -> Terms:
    """Return the terms of each job from what the ledger keeps, whatever version entered it."""
    if "terms" in data:
        return Terms.model_validate(data["terms"])
    return Terms(model=data["model"] or "", max_tokens=data["max_tokens"])


def _digest(data: Mapping[str, Any]) -> bytes:
    return sha256(canonical_json(data)).digest()


def _combination(job_file: JobFile, cell: Mapping[str, Any], own: Terms) -> Configuration:
    kind = job_file.kind
    shared = {"model": job_file.model, "max_tokens": job_file.max_tokens, **job_file.terms}
    tables: dict[str, Any] = deepcopy({"engine": job_file.engine, "options": job_file.options, "terms": shared})
    for name, value in cell.items():
        table, path = job_file.place(name)
        _put(tables[table], path, value)
    terms = cast("Terms", read(Terms, tables["terms"], names=lambda spec: _TERMS[spec.name]))
    check_terms(kind, terms, _TERMS)
    values = {**_upgraded(kind, tables["engine"]), **tables["options"]}
    options = read(hooks_of(kind).options, values, names=lambda spec: f"options.{spec.name}")
    terms = terms.over(own.model_copy(update={"model": ""}) if hooks_of(kind).panel(options) else own)
    if job_file.older:
        data = {"engine": tables["engine"], "model": terms.model or None, "max_tokens": terms.max_tokens}
    else:
        data = {"options": options.model_dump(mode="json", exclude_unset=True), "terms": terms.data()}
    return Configuration(data, options, terms)


def _upgraded(kind: RunType, engine: dict[str, Any]) -> dict[str, Any]:
    if not engine:
        return engine
    try:
        return {**hooks_of(kind).defaults({}), **hooks_of(kind).upgrade({}, {"engine": engine})[1]}
    except (TypeError, ValueError, AttributeError, LookupError) as fault:
        raise ConfigurationError(f"engine: {' '.join(str(fault).split())[:300]}") from None


def _put(table: dict[str, Any], path: str, value: Any) -> None:
    *tables, last = path.split(".")
    for name in tables:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            raise ConfigurationError(f"grid.{path}: {name} is no table")
        table = cast("dict[str, Any]", inner)
    table[last] = deepcopy(value)

"""The routes that start a batch: the form, derived from the job file's own model, and what it is made of."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import starmap
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from assay.batch.batches import entered
from assay.batch.inputs import rows
from assay.batch.jobfile import BudgetTable, JobFile
from assay.batch.loading import checked
from assay.fields import FieldSpec, Ui, fields_of, like, read, shown, specs_of
from assay.hooks import hooks_of
from assay.protocol import RunType
from assay.registry import find, run_types
from assay.report.units import count_noun
from assay.web import forms
from assay.web.acting import begun
from assay.web.app_state import AppState, redirect, request_fields, site_of
from assay.web.beginning import estimate_of, model_price, words_of
from assay.web.composing import form_field
from assay.web.forms import put_down
from assay.web.templating import render
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model
from llm_runtime.rewording import reworded
from llm_runtime.store import SqliteStore
from llm_runtime.tables import divider

ModelT = TypeVar("ModelT", bound=BaseModel)
_EACH = "each-"
"""Begins the name of an option of each run that the batch itself has, too."""


class BatchForm(Model):
    """What a batch is made of, beside how each of its runs is done."""

    rows: Annotated[str, Ui(kind="file", advanced=False)]
    """CSV with a header, or one JSON object a line; a column goes into the field of its name."""
    models: Annotated[tuple[str, ...], Ui(advanced=False)] = ()
    """One a line, as PROVIDER:MODEL; each row is run with each of them. Empty lets the configuration decide."""
    title: str = like(JobFile, "title")
    """What lists call it."""
    repetitions: int = like(JobFile, "repetitions")
    """How often each row is run in each configuration."""
    budget: Annotated[BudgetTable, Ui(flatten=True)] = BudgetTable()
    columns: Annotated[tuple[str, ...], Ui(label="Columns of other names")] = ()
    """FIELD=COLUMN, one a line, where a column is not called as its field."""


def _kinds() -> list[RunType]:
    return [run for run in run_types().values() if "batch" in run.doors]


async def new_batch(request: Request) -> Response:
    """Show the form to start a batch."""
    query = request.query_params
    return HTMLResponse(new_batch_page(str(query.get("kind") or _kinds()[0].name), query))


async def start_batch(request: Request) -> Response:
    """Enter the jobs of a batch and have them worked off; with ``estimate`` say what they will take."""
    site, fields = site_of(request), await request_fields(request)
    kind = str(fields.get("kind") or _kinds()[0].name)

    async def begin() -> Response:
        if not isinstance(site.store, SqliteStore):
            raise ConfigurationError(
                "on this store batches are started at the command line", advice="assay batch run JOB.toml"
            )
        job_file = await asyncio.to_thread(_read, kind, fields)
        if fields.get("estimate"):
            return PlainTextResponse(await asyncio.to_thread(_estimated, site, job_file), headers={"X-Note": "1"})
        batch = await entered(job_file, str(site.store.path), site.settings())
        await site.workers.begin(batch.batch_id, str(site.store.path))
        return redirect(request, f"/batches/{batch.batch_id}", {"batch_id": batch.batch_id}, 201)

    return await begun(request, begin, lambda why: new_batch_page(kind, fields, why))


def new_batch_page(kind: str, values: Mapping[str, Any], fault: str = "") -> str:
    """Return the form; ``values`` are what was filled in before, ``fault`` why that was refused."""
    run = find(kind)
    hooks, own = hooks_of(run), specs_of(BatchForm)
    return render(
        "new_batch.html",
        run=run,
        kinds=_kinds(),
        task=[spec for spec in fields_of(hooks.task) if not spec.ui.hidden],
        fields=[form_field(spec) for spec in shown(BatchForm)],
        options=[
            form_field(replace(spec, name=f"{_EACH}{spec.name}") if spec.name in own else spec)
            for spec in shown(hooks.options)
        ],
        values=values,
        fault=fault,
    )


def _read(kind: str, fields: Mapping[str, Any]) -> JobFile:
    """Make a job file of what was filled in."""
    hooks = hooks_of(find(kind))
    asked, own = _filled(BatchForm, fields), specs_of(BatchForm)
    options = _filled(hooks.options, {name.removeprefix(_EACH): fields[name] for name in fields if name not in own})
    if not asked.rows.strip():
        raise ConfigurationError("Rows is empty; paste the rows, or choose a file")
    models = asked.models
    data: dict[str, Any] = {
        "run": kind,
        **asked.model_dump(include={"title", "repetitions", "budget"}, exclude_none=True),
        "options": options.model_dump(mode="json", exclude_defaults=True),
        "grid": {"terms.model": list(models)} if len(models) > 1 else {},
        "terms": {"model": models[0]} if len(models) == 1 else {},
        "input": {"path": put_down(asked.rows), "columns": _columns(asked, specs_of(hooks.task))},
    }
    return checked(data)


def _columns(asked: BatchForm, known: Mapping[str, FieldSpec]) -> dict[str, str]:
    """Return the column of each field: the one of its name, or the one that was named for it."""
    named = dict(forms.pair(line, "a column is written FIELD=COLUMN") for line in asked.columns)
    columns = {name: name for name in _header(asked.rows) if name in known} | named
    if not columns:
        wanted = ", ".join(name for name, spec in known.items() if not spec.ui.hidden)
        raise ConfigurationError(f"Rows: no column is called as a field is; the fields are {wanted}")
    return columns


def _filled(model: type[ModelT], fields: Mapping[str, Any]) -> ModelT:
    specs = {spec.name: spec for spec in shown(model) if spec.name in fields}
    values = {name: forms.plain_value(spec, fields[name]) for name, spec in specs.items()}
    return cast("ModelT", read(model, values, names=lambda spec: spec.label))


def _header(text: str) -> list[str]:
    """Return the names of the columns."""
    first = next(iter(text.lstrip("\ufeff \r\n").splitlines()), "")
    if not first.startswith("{"):
        return next(csv.reader((first,), delimiter=divider(first)), list[str]())
    with reworded("Rows, line 1 is not JSON", ValueError, RecursionError):
        return list(json.loads(first))


def _estimated(site: AppState, job_file: JobFile) -> str:
    count = sum(1 for _ in rows(job_file.input))
    models: list[Any] = job_file.grid.get("terms.model") or [job_file.terms.get("model")]
    each = count * job_file.repetitions
    amounts = ((count, "row"), (len(models), "configuration"), (each * len(models), "job"))
    lines = [", ".join(starmap(count_noun, amounts)) + "."]
    for model in models:
        name = str(model) if model else ""
        estimate = estimate_of(job_file.kind, site.store, "", model_price(site, name or None), each)
        lines.append(f"{name or 'The default model'}: {words_of(estimate, each)}")
    return "\n".join(lines)

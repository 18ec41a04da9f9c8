"""Tools that begin runs, made from the descriptions of the kinds of run: nothing here knows one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import Parameter
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import BaseModel, Field
from pydantic_core import to_jsonable_python

from assay.api.catalogue import chat_models
from assay.fields import FieldSpec, fields_of, shown
from assay.hooks import hooks_of
from assay.protocol import RunType, Tool
from assay.registry import run_types
from assay.terms import Terms
from assay.web.forms import terms_fields

_PRESET = "Settings that the user has made; empty for the usual ones."
Template: TypeAlias = "str | Mapping[str, Template] | list[Template]"


class RunTool(NamedTuple):
    """One tool.

    Args:
        name: what agents call it.
        run: what it begins.
        tool: as the kind of run describes it.
        parameters: what it takes, as a signature has them.
    """

    name: str
    run: RunType
    tool: Tool
    parameters: tuple[Parameter, ...]

    def fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that a call fills; one that is as it would be anyway is left to the preset."""
        values: dict[str, Any] = to_jsonable_python(given)
        texts = {name: values.pop(name) for name, _, _ in self.tool.takes}
        own = {called: name for name, called in self.tool.called}
        usual = to_jsonable_python({one.name: one.default for one in self.parameters if one.default is not one.empty})
        set_here = {own.get(name, name): one for name, one in values.items() if one != usual.get(name, Parameter)}
        return {**_filled(self.tool.gives, texts), **set_here}


def _filled(template: Template, texts: Mapping[str, str]) -> Any:
    if isinstance(template, str):
        return template.format_map(texts)
    if isinstance(template, Mapping):
        return {key: _filled(one, texts) for key, one in template.items()}
    return [_filled(one, texts) for one in template]


def run_tools() -> Iterator[RunTool]:
    """Yield a tool for each kind of run that agents may ask for, and for its presets."""
    presets = [(name, model.run.name) for name, model in chat_models().items() if model.preset]
    for run in run_types().values():
        own = ["", *(name for name, kind in presets if kind == run.name)]
        for tool in run.tools:
            parameters = [_text(name, about, required) for name, about, required in tool.takes]
            parameters += _parameters(run, tool)
            if run.chat:
                parameters.append(_text("preset", _PRESET, enum=own))
            yield RunTool(tool.name or run.name.replace(".", "_"), run, tool, tuple(parameters))


def _parameters(run: RunType, tool: Tool) -> Iterator[Parameter]:
    """Yield each field that the tool takes as it is: with its own type, bounds and words."""
    hooks, called = hooks_of(run), dict(tool.called)
    for model in () if tool.takes else (hooks.task, hooks.options):
        for spec in fields_of(model):
            if spec in shown(model) or "agent" in spec.ui.doors or spec.name in tool.also:
                yield _parameter(called.get(spec.name, spec.name), spec, model)
    for spec in terms_fields(run):
        yield _parameter(spec.name, spec, Terms)


def _text(name: str, about: str, required: bool = False, **more: Any) -> Parameter:
    kind = Annotated[str, Field(description=about, min_length=int(required), json_schema_extra=more)]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=Parameter.empty if required else "", annotation=kind)


def _parameter(name: str, spec: FieldSpec, model: type[BaseModel]) -> Parameter:
    holder: Any = model
    for table in spec.path[:-1]:
        holder = holder.model_fields[table].annotation
    info, names = holder.model_fields[spec.path[-1]], spec.suggested

    def listed(schema: dict[str, Any]) -> None:
        schema.get("items", schema)["enum"] = names

    words = Field(description=spec.help, json_schema_extra=listed if names else None)
    kind: Any = Annotated[info.annotation, *info.metadata, words]  # pyright: ignore[reportInvalidTypeForm] - made here
    default = Parameter.empty if spec.required else spec.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)

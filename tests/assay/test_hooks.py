"""What a kind of run does is a class held to its names; nothing outside the protocols names one of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from assay.hooks import Data, Hooks, hooks_of
from assay.protocol import RunContext, RunType, load
from assay.registry import OURS, protocols, run_types
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model

SOURCES = Path(__file__).parents[2] / "src" / "assay"
#: The registry lists ours, in the order in which a newcomer meets them: to search for them would slow `--help`.
NAMING = {"registry.py": set(OURS)}


class Task(Model):
    """A visit."""


def visit(hooks: str) -> RunType:
    return RunType("guest.visit", "Visit", "A visit.", "visit", hooks)


class VisitHooks(Hooks[Task, Task]):
    async def run(self, task: Task, options: Task, context: RunContext) -> Data:
        return {}


def test_a_class_with_one_method_is_a_kind_of_run() -> None:
    hooks = hooks_of(visit(f"{__name__}:VisitHooks"))
    assert (hooks.task, hooks.options, hooks.replayable) == (Task, Task, True)
    assert hooks.prepare(Task(), Task()) == (Task(), Task()) and hooks.outcome({}) == ""


def test_a_name_that_is_no_hook_and_a_class_that_has_none_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Misspelt\.tittle_of is no hook"):
        type("Misspelt", (Hooks,), {"tittle_of": lambda self, task: ""})
    with pytest.raises(ConfigurationError, match="no subclass of"):
        hooks_of(visit(f"{__name__}:Task"))


@pytest.mark.parametrize("name", run_types())
def test_every_kind_of_run_has_its_hooks_and_its_fold(name: str) -> None:
    hooks = hooks_of(run_types()[name])
    assert issubclass(hooks.task, Model) and issubclass(hooks.options, Model) and load(hooks.told)


def named_in(source: Path) -> set[str]:
    """What a module's texts, its docstrings left out, and its imports have of the protocols and kinds of run."""
    tree, kinds = ast.parse(source.read_text()), {name for run in run_types().values() for name in run.names}
    names, found = {*protocols(), *kinds}, set[str]()
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            words = set(re.findall(r"[\w.]+", node.value)) if "." in node.value else {node.value}
            found |= {word for word in words if word in names and (word == node.value or "." in word)}
            found |= {part for part in re.findall(r"protocols\.(\w+)", node.value) if part in names}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            places = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found |= {place.split(".")[0] for place in places} & set(protocols())
    return found


def test_nothing_outside_the_protocols_names_one() -> None:
    modules = [path for path in SOURCES.rglob("*.py") if "protocols" not in path.relative_to(SOURCES).parts]
    naming = {str(path.relative_to(SOURCES)): found for path in modules if (found := named_in(path))}
    assert naming == NAMING

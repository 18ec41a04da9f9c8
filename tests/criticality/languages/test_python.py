"""What is Python's own among the languages: its parser reads bodies, and what it writes is the same each time."""

from __future__ import annotations

import textwrap

import pytest

from criticality.languages import language
from criticality.languages.base.grammar.smells import detect
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.spec import Spec

PYTHON = language("python")
HEAD = 'def f(a: int) -> int:\n    """Do."""\n'


@pytest.mark.parametrize(
    "source",
    [
        "def f(a):\n    # first\n    @once\n    def inner():\n        return a\n    return inner()\n",
        "def f(a):\n    @one\n    @two(\n        3)\n    class Inner:\n        pass\n    return Inner\n",
    ],
)
def test_a_body_that_begins_with_a_decorator_is_read_with_it(source: str) -> None:
    body = PYTHON.body_of(source, "f")
    assert body.startswith("@")
    spliced = PYTHON.splice(f"{HEAD}    raise NotImplementedError\n", "f", body)
    assert PYTHON.body_of(spliced, "f") == body


def test_what_a_function_raises_is_written_in_the_order_of_its_names() -> None:
    names = [f"Fault{letter}" for letter in "QWERTZUIOP"]
    method = {"name": "f", "params": ["a: Int"], "returns": "Int"}
    spec = Spec.model_validate(
        {
            "system": {"name": "many-faults", "description": "Fails in many ways."},
            "errors": dict.fromkeys(names, "It fails"), "interfaces": {"F": {"methods": [method]}},
            "claims": {"fault_001": {"text": "A call always fails", "type": "behavioral"}},
        }
    )  # fmt: skip
    promised = [f"ENSURES: a == {number} implies raises({name})" for number, name in enumerate(names)]
    function = method | {"doc": "Fail.", "contracts": [*promised, "PURITY: pure"]}
    module = ModulePlan.model_validate({"name": "m", "purpose": "Fails.", "functions": [function]})
    source = PYTHON.sources(spec, (module,), {})["src/many_faults/m.py"]
    raised = [line.strip() for line in source.splitlines() if line.endswith(": It fails")]
    assert raised == sorted(raised) and len(raised) == 10


@pytest.mark.parametrize(
    ("body", "complexity"),
    [
        ("for x in a:\n    if x:\n        break\nelse:\n    return 1\nreturn 2", 4),
        ("try:\n    return a[0]\nexcept IndexError:\n    return 1\nelse:\n    return 2\nfinally:\n    a", 3),
        ("match a:\n  case 1 if b or c:\n    return 1\n  case None:\n    return 2\n  case x:\n    return x", 4),
        ("def inner(x):\n    return 1 if x else 2\nreturn inner(a)", 1),
        ("assert a or b\nreturn [x for x in a if x and b]", 5),
        ("if a:\n    return 1\nelif b:\n    return 2\nelse:\n    return 3 if c else 4", 4),
        ("while a and b or c:\n    a = lambda x: x or 1\nelse:\n    return 2\nreturn 3", 6),
    ],
)  # fmt: skip
def test_complexity_is_one_more_than_the_decisions_of_mccabe(body: str, complexity: int) -> None:
    source = "def f(a, b, c):\n" + textwrap.indent(body, "    ") + "\n"
    assert detect(language("python").table, {"m": source})[1]["m.f"]["complexity"] == complexity  # pyright: ignore


@pytest.mark.parametrize("body", ["return ｏｔｈｅｒ(1)", "return [*map(ｐrint, a)]", "return 1\rimport os"])
def test_a_name_in_another_writing_is_the_same_name(body: str) -> None:
    function = FunctionPlan(name="f", params=["a: Int"], returns="Int", doc="Do.", contracts=["PURITY: pure"], calls=[])
    assert language("python").inspect_body(body, function, module="m", siblings=["other"])


@pytest.mark.parametrize(
    ("name", "taken"), [("calendar", True), ("queue", True), ("class", True), ("pytest", True), ("my-calendar", False)]
)
def test_a_project_is_not_called_as_what_python_itself_imports(name: str, taken: bool) -> None:
    spec = Spec.model_validate(
        {
            "system": {"name": name, "description": "It counts."},
            "interfaces": {"F": {"methods": [{"name": "f", "params": ["a: Int"], "returns": "Int"}]}},
            "claims": {"count_001": {"text": "A count is right", "type": "behavioral"}},
        }
    )
    said = f"the name {name} means something else in Python; choose another"
    assert PYTHON.spec_fault(spec) == (said if taken else "")

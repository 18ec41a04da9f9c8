"""What is Python's own among the languages: its parser reads bodies, and what it writes is the same each time."""

from __future__ import annotations

import pytest

from criticality.languages import language
from criticality.lattice_plan import ModulePlan
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

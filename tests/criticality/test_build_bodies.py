"""A body from a model: put in where it belongs, or refused; looked at first; run where it does no harm."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turnstile_system import GATE, PARITY, SPEC, needs_toolchain

from criticality.artifacts import Body
from criticality.bodies import SpliceRefused
from criticality.languages import language
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec

pytestmark = needs_toolchain
PYTHON = language("python")
inspect_body, leaked_logic, mutants = PYTHON.inspect_body, PYTHON.leaked_logic, PYTHON.mutants
body_of, read_body, splice = PYTHON.body_of, PYTHON.read_body, PYTHON.splice
SOURCE = (
    '"""Two."""\n\nX = 1\n\n\ndef f(a: int) -> int:\n    """Do.\n\n    PURITY: pure\n    """\n'
    "    raise NotImplementedError\n\n\ndef g() -> int:\n    raise NotImplementedError\n"
)
PLAN = FunctionPlan(name="f", params=["a: Int"], returns="Int", doc="Do it.", contracts=["PURITY: pure"], calls=[])


def test_a_body_goes_where_it_belongs_and_nothing_else_moves() -> None:
    after = splice(SOURCE, "f", "if a:\n    return 1\nreturn 2")
    assert after == SOURCE.replace(
        "    raise NotImplementedError\n\n\ndef g", "    if a:\n        return 1\n    return 2\n\n\ndef g"
    )
    assert body_of(after, "f") == "if a:\n    return 1\nreturn 2"


@pytest.mark.parametrize(
    "body", ["return (1", "", "return 1\n  return 2", "'''", "return 1\x00", "x" * 30_000, "return 1 \\", '"""doc']
)
def test_a_body_that_cannot_stand_is_refused(body: str) -> None:
    with pytest.raises(SpliceRefused):
        splice(SOURCE, "f", read_body(body, "f"))


bodies = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="def g()->int:\n return1'\"\\#@{}[],*", max_size=60),
    st.sampled_from(
        ["pass", "return 1", "def g() -> int:\n    return 3", "class A: pass", "X = 2", "'''", "@g", "lambda: (", "#"]
    ),
)


@given(lines=st.lists(bodies, max_size=4))
def test_whatever_is_spliced_the_surroundings_stay_byte_equal(lines: list[str]) -> None:
    try:
        after = splice(SOURCE, "f", read_body("\n".join(lines), "f"))
    except SpliceRefused:
        return
    head, tail = SOURCE.split("    raise NotImplementedError\n", 1)
    assert after.startswith(head) and after.endswith(tail)
    names = [n.name for n in ast.parse(after).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    assert names == ["f", "g"]


def test_answers_come_bare_fenced_or_as_the_whole_function() -> None:
    for answer in ("return a", "```python\nreturn a\n```", "Here:\n```\ndef f(a: int) -> int:\n    return a\n```"):
        assert body_of(splice(SOURCE, "f", read_body(answer, "f")), "f") == "return a"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("import os\nreturn 1", "security"),
        ("return open('x')", "security"),
        ("return a.__class__", "security"),
        ("return eval('1')", "security"),
        ("return getattr(a, 'x')", "security"),
        ("return '{0.real}'.format(a)", "security"),
        ("global X\nX = 1\nreturn 1", "security"),
        ("class A: pass\nreturn 1", "security"),
        ("print(a)\nreturn 1", "semantic"),
        ("m = re\nreturn 1", "security"),
        ("return re.enum.sys.maxsize", "security"),
        ("return operator.attrgetter('__class__')(a)", "security"),
        ("return (x for x in a).gi_frame", "security"),
        ("return other(a)", "semantic"),
        ("raise NotImplementedError", "semantic"),
    ],
)
def test_what_a_body_may_not_do_is_seen_before_it_runs(body: str, kind: str) -> None:
    assert [f.kind for f in inspect_body(body, PLAN, module="m", siblings={"other"})][:1] == [kind]


def test_a_skeleton_holds_no_logic() -> None:
    from criticality.lattice_plan import ModulePlan

    spec = Spec.model_validate(SPEC)
    plan = tuple(ModulePlan.model_validate(m) for m in (GATE, PARITY))
    source = language("python").sources(spec, plan, {})["src/turn_stile/gate.py"]
    assert leaked_logic(source) == []
    assert leaked_logic(splice(source, "enter", "return gate")) == ["enter"]


def test_a_body_that_is_spliced_into_its_module_leaves_the_text_as_it_was_rendered() -> None:
    from criticality.lattice_plan import ModulePlan

    spec = Spec.model_validate(SPEC)
    plan = tuple(ModulePlan.model_validate(m) for m in (GATE, PARITY))
    body = "if gate.inside:\n    raise Full\nreturn gate"
    bodies = {"gate.enter": Body(body, "", "worker", 1)}
    rendered = language("python").sources(spec, plan, bodies)["src/turn_stile/gate.py"]
    assert "import Full, Gate" in rendered and splice(rendered, "enter", body) == rendered


def test_mutants_are_small_different_and_parse() -> None:
    made = mutants("if a < 1 and b:\n    return a + 2\nx = min(a, b)\nreturn x")
    assert len(made) == len(set(made)) >= 7
    for text in made:
        ast.parse(text)

"""Faults put into the judge: each is told as what it is, and no right body is refused for it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import seeded
from turnstile_system import GATE, PARITY, SPEC, needs_toolchain

from criticality.judging.court import Court
from criticality.judging.hearing import Verdict
from criticality.judging.outcomes import JudgeFailed
from criticality.lattice_plan import ModulePlan
from criticality.spec.spec import Spec
from criticality.trace import trace_markdown

pytestmark = needs_toolchain

#: A library that the judge stands on, in which something goes wrong.
LIBRARY = """
import importlib.util, os, signal, sys
from importlib.machinery import PathFinder
from pathlib import Path
_here = Path(__file__).parent
_found = PathFinder.find_spec("msgpack", [one for one in sys.path if one and Path(one) != _here])
sys.modules["msgpack"] = _real = importlib.util.module_from_spec(_found)
_found.loader.exec_module(_real)
_packb, _count = _real.packb, 0

def packb(*args, **named):
    global _count
    _count += 1
    if _count == 40 and not (ONCE and (_here / "done").exists()):
        (_here / "done").touch()
        FAULT
    return _packb(*args, **named)

_real.packb = packb
"""
#: Of the sitting, by what is done at its fortieth call: what is said; nothing where it is heard all the same.
SITTING = {
    "raise AttributeError('minutes')": "AttributeError: minutes",
    "raise ZeroDivisionError('by nothing')": "ZeroDivisionError: by nothing",
    "raise KeyError('a field')": "KeyError",
    "raise OSError('no room')": "OSError: no room",
    "raise MemoryError('at a case')": "MemoryError",
    "sys.modules['criticality.judging.values'].Values._drawn_cases = None": "TypeError: 'NoneType'",
    "os.kill(os.getpid(), signal.SIGKILL)": "ended by SIGKILL",
    "os.kill(os.getpid(), signal.SIGSEGV)": "ended by SIGSEGV",
    "os._exit(3)": "its process ended",
    "[os.write(n, b'no answer\\n') for n in range(3, 9) if os.path.exists(f'/proc/self/fd/{n}')]": "another form",
    "once: os.kill(os.getpid(), signal.SIGKILL)": "",
    "once: os._exit(1)": "",
}  # fmt: skip


#: One of each kind is tried always: an exception, a process that ends, an answer of another form, one failure.
ALWAYS = {
    "raise KeyError('a field')",
    "os._exit(3)",
    "once: os._exit(1)",
    next(one for one in SITTING if "write" in one),
}


@pytest.mark.parametrize(
    "fault", [one if one in ALWAYS else pytest.param(one, marks=pytest.mark.long) for one in SITTING]
)
async def test_a_sitting_that_fails_is_told_and_refuses_nothing(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = fault.startswith("once: ")
    text = LIBRARY.replace("ONCE", str(once)).replace("FAULT", fault.removeprefix("once: "))
    (tmp_path / "msgpack.py").write_text(text)
    one = seeded.project("turnstile")
    monkeypatch.syspath_prepend(tmp_path)
    if SITTING[fault]:
        with pytest.raises(JudgeFailed, match=SITTING[fault]) as failed:
            await heard(one, "gate.enter")
        assert "gate.enter" in str(failed.value) and "says nothing about what was written" in str(failed.value)
    else:
        verdict = await heard(one, "gate.enter")
        assert (verdict.faults, verdict.guilty, (tmp_path / "done").exists()) == ([], None, True)


@pytest.mark.parametrize("signal", ["SIGKILL", pytest.param("SIGTERM", marks=pytest.mark.long)])
@pytest.mark.parametrize("variant", [pytest.param(0, marks=pytest.mark.long), 1])
async def test_a_process_that_a_machine_in_need_ends_is_no_fault_of_its_body(
    signal: str, variant: int, tmp_path: Path
) -> None:
    one = project("ENSURES: result == count % 2", "ENSURES: result + twice(count) == 2 * count + count % 2")
    done = tmp_path / "done"
    hearing = seeded.hearing(one, ["gate.rest"])
    doomed = (
        "    import signal\n    left = 9\n    write(msgpack.packb([0, 0, '', None]))\n    while True:\n"
        f"        left -= 1\n        if not left and variant == {variant} and not os.path.exists({str(done)!r}):\n"
        f"            open({str(done)!r}, 'w').close(); os.kill(os.getpid(), signal.{signal})\n"
    )
    text = hearing.program.files["server.py"]
    begun = "    write(msgpack.packb([0, 0, seal(), None]))\n    while True:\n"
    assert begun in text
    hearing.program.files["server.py"] = text.replace(begun, doomed)
    verdict = await in_court(hearing)
    assert (verdict.faults, verdict.guilty, done.exists()) == ([], None, True)


def project(*clauses: str, model: dict[str, Any] | None = None, **more: str) -> seeded.Project:
    """One function, and a second one that its clauses may call."""
    spec: dict[str, Any] = copy.deepcopy(SPEC)
    if model is not None:
        spec["data_models"]["Gate"] = model
    one, other = copy.deepcopy(GATE["functions"][0]), copy.deepcopy(PARITY["functions"][0])
    plain = {"doc": "It.", "calls": []}
    one |= {"name": "rest", "params": [more.get("takes", "count: Count")], "returns": "Int", **plain}
    one["contracts"] = [*clauses, "PURITY: pure", "CLAIM_REF: room_001"]
    other |= {"name": "twice", "params": ["count: Count"], "returns": "Int", **plain}
    other["contracts"] = ["ENSURES: result == 2 * count", "PURITY: pure"]
    module = {**GATE, "functions": [one, other]}
    right = {"gate.rest": more.get("body", "return count % 2"), "gate.twice": "return 2 * count"}
    return seeded.Project(Spec.model_validate(spec), (ModulePlan.model_validate(module),), right, [])


async def in_court(hearing: Any) -> Verdict:
    court = Court(1)
    try:
        return await court.hear(hearing)
    finally:
        await court.aclose()


async def heard(one: seeded.Project, name: str) -> Verdict:
    return await in_court(seeded.hearing(one, seeded.unit_of(one, name)))


@pytest.mark.parametrize(
    ("clause", "why"),
    [
        ("result in range(2) and len(list(range(10 ** 9 + count))) > 0".replace("10 ** 9", "1000000000"), "memory"),
        ("sum(1 for a in range(1000000) for b in range(1000000) if a == b) > result", "10 s of processor time"),
        ("(lambda f: f(f))(lambda f: f(f)) == result", "nested too deep"),
    ],
    ids=["memory", "slow", "deep"],
)
@pytest.mark.long
async def test_a_clause_that_cannot_be_evaluated_is_not_judged_and_the_others_are(clause: str, why: str) -> None:
    verdict = await heard(project("ENSURES: result == count % 2", f"ENSURES: {clause}"), "gate.rest")
    assert (verdict.faults, verdict.guilty) == ([], None) and verdict.cases > 20
    ((told, reason),) = verdict.unjudged["gate.rest"].items()
    assert clause.split()[0] in told and why in reason
    wrong = project("ENSURES: result == count % 2", f"ENSURES: {clause}", body="return 0")
    assert (await heard(wrong, "gate.rest")).faults[0].promise == "ENSURES: result == count % 2"


LISTS = {
    "fields": [{"name": "flags", "type": "List<Bool>", "constraints": []}, {"name": "free", "type": "Bool"}],
    "invariants": ["len(flags) == 31 or (free and len(flags) == 0)"], "description": "A month",
}  # fmt: skip


async def test_a_record_that_cannot_be_drawn_at_a_size_is_no_case() -> None:
    body = "return len(gate.flags)"
    one = project("ENSURES: result == len(gate.flags)", model=LISTS, takes="gate: Gate", body=body)
    verdict = await heard(one, "gate.rest")
    assert (verdict.faults, verdict.guilty) == ([], None) and verdict.cases


async def test_values_that_do_not_exist_are_told_and_refuse_nothing() -> None:
    with pytest.raises(JudgeFailed, match=r"no values that fit REQUIRES of gate\.rest"):
        await heard(project("REQUIRES: count > 50", "ENSURES: result == count % 2"), "gate.rest")


async def test_growth_over_inputs_that_stay_small_is_not_measured() -> None:
    one = project(
        "REQUIRES: all(items[i] < items[i + 1] for i in range(len(items) - 1))", "ENSURES: result == len(items)",
        "COMPLEXITY: O(n) where n = len(items)", takes="items: List<Count>",
        body="return sum(1 for a in items for b in items if a == b)",
    )  # fmt: skip
    verdict = await heard(one, "gate.rest")
    assert (verdict.faults, verdict.measured) == ([], []), "of whole numbers up to 40 there are no 512 that ascend"


async def test_a_clause_that_is_hardly_ever_asked_is_told_so_and_not_that_it_holds() -> None:
    one = project("ENSURES: count == 7 implies result == 1", "ENSURES: result == count % 2")
    verdict = await heard(one, "gate.rest")
    assert list(verdict.hardly["gate.rest"]) == ["ENSURES: count == 7 implies result == 1"]
    function = {
        "contracts": [], "cases": 40, "changes": 0, "changes_noticed": 0, "left_open": [], "attempts": 1,
        "tier": "worker", "accepted": True, "complexity": None, "not_checkable": [], "settled": [],
        "hardly": verdict.hardly["gate.rest"], "unjudged": {"ENSURES: a": "it takes too much memory"},
    }  # fmt: skip
    page = trace_markdown({"claims": {}, "functions": {"gate.rest": function}, "transformations": []})
    assert "`gate.rest`: ENSURES: count == 7 implies result == 1: in " in page
    assert "`gate.rest`: ENSURES: a: it takes too much memory" in page

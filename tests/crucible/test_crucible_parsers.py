"""Properties of the two parsers that read what models wrote: triage's configuration and the TARGETS line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible import CouncilRole
from crucible.executor.council import Seat
from crucible.executor.grammars.debate import read_targets
from crucible.schemas import TriageOutput
from crucible.triage.agent import TriageError, parse_triage
from crucible.triage.grammar import triage_grammar
from crucible.triage.reading import read_triage

SEATS = [
    Seat(f"{i}:{role.value}", role, "", None) for i, role in enumerate(CouncilRole) if role is not CouncilRole.RED_TEAM
]
LABELS = [seat.label for seat in SEATS]

ROLES = [role.value for role in CouncilRole]
configurations = st.fixed_dictionaries(
    {
        "reconstructed_query": st.text(max_size=20),
        "complexity": st.sampled_from(["simple", "complicated", "complex", "chaotic"]),
        "short_circuit_allowed": st.booleans(),
        "council": st.lists(
            st.fixed_dictionaries(
                {
                    "role": st.sampled_from([*ROLES, "red_team"]),
                    "system_prompt": st.text(max_size=20) | st.just("Think."),
                    "model_hint": st.none() | st.text(max_size=20),
                }
            ),
            min_size=2,
            max_size=6,
        ),
        "loop_grammar": st.sampled_from(["parallel", "sequential", "debate"]),
        "loop_count": st.integers(1, 6),
        "red_team_flavor": st.sampled_from(["logical", "feasibility", "ethical", "steelman"]),
        "allow_early_exit": st.booleans(),
        "synthesis_instruction": st.text(max_size=20),
    }
)


def holds(data: dict[str, Any]) -> bool:
    """State the engine's constraints once more, in other words than the engine."""
    return (
        3 <= len(data["council"]) <= 5
        and [seat["role"] for seat in data["council"]].count("red_team") == 1
        and 2 <= data["loop_count"] <= 5
        and (not data["short_circuit_allowed"] or data["complexity"] == "simple")
        and bool(data["reconstructed_query"].strip())
        and all(seat["system_prompt"].strip() for seat in data["council"])
    )


@given(configurations)
def test_a_configuration_is_accepted_unchanged_or_refused_by_the_constraints(data: dict[str, Any]) -> None:
    raw = json.dumps(data)
    if holds(data):
        assert parse_triage(raw).model_dump(mode="json") == data
    else:
        with pytest.raises(TriageError) as caught:
            parse_triage(raw)
        assert caught.value.raw == raw


@given(st.text() | st.recursive(st.none() | st.text() | st.floats(), st.lists).map(json.dumps))
def test_anything_else_is_a_triage_error(raw: str) -> None:
    with pytest.raises(TriageError):
        parse_triage(raw)


@pytest.mark.parametrize(
    ("field", "spelled", "value"),
    [
        ("loop_count", "3", 3),
        ("loop_count", 3.0, 3),
        ("short_circuit_allowed", "false", False),
        ("allow_early_exit", 1, True),
        ("loop_grammar", "PARALLEL", "parallel"),
        ("complexity", "Complex", "complex"),
        ("red_team_flavor", "STEELMAN", "steelman"),
    ],
)
def test_what_is_only_spelled_otherwise_is_decoded_and_told(
    field: str, spelled: object, value: object, configuration: Any
) -> None:
    for raw in (configuration(**{field: spelled}), f"\n```json\n{configuration(**{field: spelled})}\n```\n"):
        triage, decoded = read_triage(raw)
        assert triage.model_dump(mode="json") == json.loads(configuration(**{field: value}))
        assert decoded[-1] == f"{field}: {json.dumps(spelled)} was read as {json.dumps(value)}"
        assert decoded[:-1] == (["one fence around the whole answer"] if "```" in raw else [])
    assert read_triage(configuration())[1] == []


def test_a_role_may_be_in_capitals(configuration: Any) -> None:
    data = json.loads(configuration())
    data["council"][1]["role"] = "RED_TEAM"
    triage, decoded = read_triage(json.dumps(data))
    assert triage.council[1].role is CouncilRole.RED_TEAM
    assert decoded == ['council.1.role: "RED_TEAM" was read as "red_team"']


@pytest.mark.parametrize(
    "changes",
    [{"loop_count": 7}, {"loop_count": "7"}, {"loop_count": 2.5}, {"loop_grammar": "in line"}, {"complexity": 1}],
)
def test_no_value_is_changed(changes: dict[str, object], configuration: Any) -> None:
    with pytest.raises(TriageError, match=next(iter(changes))):
        parse_triage(configuration(**changes))


def test_neither_prose_nor_a_cut_nor_a_second_fence_is_decoded(configuration: Any) -> None:
    bare = configuration()
    fenced = f"```json\n{bare}\n```"
    around = (f"Here: {bare}", f"{bare} Done.", f"Here:\n{fenced}", f"{fenced}\nDone.", f"{fenced}\n{fenced}")
    for raw in (*around, bare[:-1], fenced[:-3]):
        with pytest.raises(TriageError, match="Invalid JSON"):
            parse_triage(raw)


def allowed(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return what a schema allows, for the keywords that triage's grammar uses; any other keyword is an error."""
    match schema:
        case {"anyOf": ways}:
            return st.one_of([allowed(way) for way in ways])
        case {"const": value}:
            return st.just(value)
        case {"enum": values}:
            return st.sampled_from(list[Any](values))
        case {"prefixItems": items}:
            return st.tuples(*map(allowed, items)).map(list[Any])
        case {"properties": properties}:
            return st.fixed_dictionaries({name: allowed(inner) for name, inner in properties.items()})
        case {"pattern": pattern}:
            return st.from_regex(str(pattern), fullmatch=True)
        case {"type": "boolean"}:
            return st.booleans()
        case {"type": "null"}:
            return st.none()
        case _:
            raise AssertionError(f"no strategy for {schema}")


@settings(max_examples=40)
@given(allowed(json.loads(triage_grammar())))
def test_all_that_the_grammar_allows_is_valid(data: dict[str, Any]) -> None:
    triage, decoded = read_triage(json.dumps(data, ensure_ascii=False))
    assert triage.model_dump(mode="json") == data and decoded == []


@pytest.mark.long
@settings(max_examples=2_000)
@given(allowed(json.loads(triage_grammar())))
def test_all_that_the_grammar_allows_is_valid_at_length(data: dict[str, Any]) -> None:
    assert parse_triage(json.dumps(data, ensure_ascii=False)).model_dump(mode="json") == data


@pytest.mark.parametrize(
    "raw", ["[" * 10**6, '{"a":' * 10**6, '{"council": ' + "9" * 10**5 + "}"], ids=["lists", "objects", "digits"]
)
def test_hostile_sizes_end_in_one_line(raw: str) -> None:
    with pytest.raises(TriageError) as caught:
        parse_triage(raw)
    assert len(str(caught.value)) < 500


def test_what_the_schema_leaves_optional_has_its_defaults(configuration: Any) -> None:
    data = json.loads(configuration())
    del data["short_circuit_allowed"], data["allow_early_exit"]
    for seat in data["council"]:
        del seat["model_hint"]

    triage = parse_triage(json.dumps(data))

    assert (triage.short_circuit_allowed, triage.allow_early_exit) == (False, True)
    assert isinstance(triage, TriageOutput) and triage.council[0].model_hint is None


@pytest.mark.parametrize(
    ("critique", "targets"),
    [
        ("Weak.\nTARGETS: 2:pragmatist", ["2:pragmatist"]),
        ("TARGETS: 3:creative, 0:synthesizer", ["0:synthesizer", "3:creative"]),
        ("Weak.\n\n**TARGETS:** `1:domain_expert`; 1:domain_expert.\n\n", ["1:domain_expert"]),
        ("Weak.\n```\ntargets: 1:Domain_Expert\n```", ["1:domain_expert"]),
        ("Weak.\r\nTARGETS: [0:synthesizer]\r\n", ["0:synthesizer"]),
        ("TARGETS: 0:synthesizer\nOr perhaps not.", []),
        ("Weak.\nTARGETS:", []),
        ("Weak.\nTARGETS: everyone", []),
        ("Weak.\nTARGETS: 0:synthesizer, 9:poet", []),
        ("Weak.\nTARGETS: 0", []),
        ("Weak.\nTARGETS 0:synthesizer", []),
        ("My TARGETS: 0:synthesizer", []),
        ("", []),
    ],
)
def test_the_targets_line(critique: str, targets: list[str]) -> None:
    assert [seat.label for seat in read_targets(critique, SEATS)] == targets


@given(st.text(), st.lists(st.sampled_from(LABELS), min_size=1))
def test_whatever_stands_before_it_the_last_line_is_read(body: str, named: list[str]) -> None:
    critique = f"{body}\nTARGETS: {', '.join(named)}"

    assert [seat.label for seat in read_targets(critique, SEATS)] == [label for label in LABELS if label in named]


@given(st.text() | st.text().map("TARGETS: {}".format))
def test_only_present_seats_are_ever_named_each_once_and_in_order(critique: str) -> None:
    named = read_targets(critique, SEATS)

    assert named == [seat for seat in SEATS if seat in named]

"""Canonical JSON: the fast path and the reference say the same, byte for byte."""

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extent import examples

from llm_runtime.canonical import canonical_json

text = st.text(st.characters(exclude_categories=["Cs"]))
integers = st.integers(-(2**53) + 1, 2**53 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-20_000, 20_000)
json_data = st.recursive(
    st.none() | st.booleans() | integers | floats | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
)


@given(json_data)
@settings(max_examples=examples(500))
def test_equals_the_reference_implementation(data: object) -> None:
    assert canonical_json(data) == rfc8785.dumps(data)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800", {"a": 2**60}])
def test_refuses_what_has_no_canonical_form(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        canonical_json(value)


def test_key_order_does_not_matter() -> None:
    assert canonical_json({"b": 1, "a": [True, None]}) == canonical_json({"a": [True, None], "b": 1})

"""`--fail-on` reads one measure, one sign and one number, and nothing that merely looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fire_circle.gates.conditions import gate_of
from llm_runtime.errors import ConfigurationError

VALUES = {"F": 0.7, "T": 0.2, "I": 0.0, "patterns": 2.0, "hidden": 1.0}


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("F>=0.7", True),
        ("F > 0.7", False),
        (" T<=0.2 ", True),
        ("T<0.2", False),
        ("I>=0", True),
        ("patterns>=2", True),
        ("patterns<2", False),
        ("hidden>=1", True),
        ("F>=1.0", False),
    ],
)
def test_it_means_what_it_says(text: str, fires: bool) -> None:
    assert gate_of(text).fires(VALUES) is fires


@pytest.mark.parametrize(
    "text",
    [
        *("", "F", "F=0.7", "F==0.7", "f>=0.7", "F>=.7", "F>=0,7", "F>=1.01", "F>=-1", "F>=1e-1", "F>=nan", "0.7<=F"),
        *("F>1", "I>1.0", "F<0", "T<0.0", "patterns<0"),
        *("F>=0.7;T<1", "F>=0.7\n\nT", "patterns>=1.5", "F>=٠", "__import__('os')>=0"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--fail-on"):
        gate_of(text)


@given(st.text())
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    try:
        gate = gate_of(text)
    except ConfigurationError as fault:
        assert "\n" not in str(fault)
    else:
        assert gate_of(str(gate)) == gate

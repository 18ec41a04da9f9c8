"""A report as an outline: what its file says, filled from data, and what is left out where there are none."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from io import StringIO
from typing import Any, cast

import pytest
from rich.console import Console

from assay.report.columns import columns
from assay.report.outline import Outline, Writing
from assay.report.story import Details, Fact, Note, Plain, Quote, Section, Table
from assay.report.terminal import block_view


@dataclass
class Weather:
    """A town's."""

    days: int
    rain: float | None = None


FORMS = {"share": lambda value: f"{value:.0%}"}
TOWNS = {"Ulm": Weather(1, 0.25), "Bonn": Weather(3)}


def told(text: str, **scope: Any) -> tuple[Section, ...]:
    """The sections that an outline comes to."""
    return Outline.model_validate(tomllib.loads(text)).story(Writing(scope, FORMS)).sections


def test_a_table_has_a_row_for_each_entry_and_a_dash_for_what_is_not_there() -> None:
    (section,) = told(
        """
        [[sections]]
        title = "Towns"
        [[sections.blocks]]
        kind = "table"
        each = "towns"
        heads = ["Town", "Days", "Rain"]
        cells = ["{name}", "{row.days:count day}", "{row.rain:share}"]
        total = ["All", "{sum:count day}", ""]
        """,
        towns=TOWNS,
        sum=4,
    )
    (table,) = section.blocks
    assert isinstance(table, Table)
    assert table.rows == (("Ulm", "1 day", "25%"), ("Bonn", "3 days", "–")) and table.total == ("All", "4 days", "")
    assert [column.kind for column in table.columns] == ["text", "number", "number"]


OF_TWO = """
title = "{place}"
facts = [{ label = "Rain", value = "{rain:share}", when = "rain" }]
[[sections]]
title = "Rain"
about = "rain"
blocks = [{ kind = "plain", text = "It rained {rain:share}." }]
[[sections]]
title = "Sun"
[[sections.blocks]]
kind = "good"
unless = "rain"
text = "All sun."
[[sections.blocks]]
kind = "details"
when = "words"
text = "What they said"
blocks = [{ kind = "quote", each = "words", text = "{row}", by = "number {name}" }]
"""


def test_a_section_tells_its_data_or_why_there_are_none_or_is_not_there() -> None:
    rain, sun = told(OF_TWO, place="Ulm", rain=0.5, words=["wet", "{cold}"], absent={})
    assert rain.blocks == (Plain("It rained 50%."),)
    assert sun.blocks == (Details("What they said", (Quote("wet", "number 0"), Quote("{cold}", "number 1"))),)
    why, dry = told(OF_TWO, place="Ulm", rain=None, words=(), absent={"rain": "nobody looked"})
    assert why.blocks == (Note("Not measured: nobody looked.", "warning"),)
    assert dry.blocks == (Note("All sun.", "good"),)
    assert [section.heading for section in told(OF_TWO, place="Ulm", rain=None, words=())] == ["Sun"]


def test_facts_stand_where_there_is_something_to_tell() -> None:
    outline = Outline.model_validate(tomllib.loads(OF_TWO))
    wet = outline.story(Writing({"place": "Ulm", "rain": 1, "words": ()}, FORMS))
    dry = outline.story(Writing({"place": "Ulm", "rain": 0, "words": ()}, FORMS))
    assert (wet.title, wet.facts, dry.facts) == ("Ulm", (Fact("Rain", "100%"),), ())


@pytest.mark.parametrize("slip", ["{towns}", "{place.height}", "{place:tall}"])
def test_a_slip_in_an_outline_is_no_dash(slip: str) -> None:
    with pytest.raises((KeyError, AttributeError, ValueError)):
        told(OF_TWO.replace("It rained", slip), place="Ulm", rain=0.5, words=())


def test_a_long_name_in_a_table_is_whole_at_80_columns() -> None:
    names = [f"acme/a-model-with-a-long-name-{at}-20260101-preview" for at in (1, 2)]
    numbers = [f"Measured {at}" for at in range(4)]
    rows = tuple((name, *["0.123 (0.1 to 0.2)"] * 4) for name in names)
    console = Console(file=StringIO(), width=80)
    console.print(block_view(Table(columns("Configuration", numbers=numbers), rows)))
    shown = cast("StringIO", console.file).getvalue()
    assert "…" not in shown and all(len(line) <= 80 for line in shown.splitlines())
    assert all(name in shown for name in names) and shown.count("0.123 (0.1 to 0.2)") == 8, shown

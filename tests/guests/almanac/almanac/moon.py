"""A tool for seats: the phase of the moon."""

from collections.abc import Mapping, Sequence
from typing import Any

from assay.seat_tools.offered import Call, SeatTool, ToolFault, word


def _made(place: str, names: Sequence[str]) -> Call:
    async def look(arguments: Mapping[str, Any]) -> str:
        if word(arguments, "month") != "May":
            raise ToolFault("the almanac knows May alone")
        return f"full on the 12th over {place}"

    return look


MOON = SeatTool(
    "moon:PLACE", "Tell when the moon is full.", {"month": {"type": "string"}}, ("month",), _made, detail="[A-Z][a-z]+"
)

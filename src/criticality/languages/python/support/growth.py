"""How the work of a function grows: steps of the interpreter are counted, never time, so it is always the same.

A built-in function counts as one step, however much it does.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_SIZES = (8, 32, 128, 512)
_MOST = 400_000
_TOLERANCE = 0.5


class _Enough(BaseException):
    """As many steps as are counted."""


def sized(value: Any, size: int) -> Any:
    """A value of the same type: a number itself, a text or a sequence repeated to that length."""
    if isinstance(value, int):
        return type(value)(size)
    return type(value)((value * (size // len(value) + 1))[:size])


def steps(run: Callable[[], Any]) -> int:
    """Steps that a call takes, at most 400,000."""
    count = 0

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        if count >= _MOST:
            raise _Enough
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        run()
    except _Enough:
        pass
    finally:
        sys.settrace(before)
    return count


def grows(promise: str, degree: int, run: Callable[[int], Any]) -> None:
    """Fail where the steps grow faster than ``n ** degree``, by half a power or more.

    Args:
        run: calls the function with an input of the given size.
    """
    counted: list[tuple[int, int]] = []
    for size in _SIZES:
        counted.append((size, steps(lambda size=size: run(size))))
        if counted[-1][1] >= _MOST:
            break
    if counted[-1][1] >= _MOST and len(counted) > 2:
        counted.pop()  # cut short, it would look as if the growth slowed down
    if len(counted) < 2:
        return
    (small, few), (large, many) = counted[-2:]
    power = math.log(many / few) / math.log(large / small)
    if power > degree + _TOLERANCE:
        shown = ", ".join(f"n = {size}: {count}" for size, count in counted)
        raise AssertionError(f"{promise} does not hold: steps grow as n^{power:.1f} ({shown})")

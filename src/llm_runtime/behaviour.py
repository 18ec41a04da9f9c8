"""What an engine does, as a number: which one it has now, and which is in force for the run that is carried out."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from llm_runtime.structs import Struct


class Behaviour(Struct):
    """What decides the requests of an engine: its prompts, their order, what seeds and labels are derived from.

    A change of any of these takes the next number. The old ones stay: prompts of before number 3 lie in
    ``prompts/before_3/``, and a rule that differs asks :meth:`before`. So a log is replayed and gone on with as it
    began, whatever release wrote it.

    Args:
        engine: its name in logs: ``"crucible"``.
        number: what it does now, from 1.
        packages: those whose prompts it has.
        unnumbered: the newest number that a log without numbers may be of; those of releases before 0.2.
        recalled: numbers below it put material into prompts that is found in another way now. What a log of theirs
            asked is asked in its own words; only what it lacks is asked in today's.
    """

    engine: str
    number: int
    packages: tuple[str, ...]
    unnumbered: int = 1
    recalled: int = 0

    @property
    def in_force(self) -> int:
        """The number that the run under way has; today's where none is chosen."""
        return next((number for other, number in _CHOSEN.get() if other == self), self.number)

    def before(self, number: int) -> bool:
        """Tell whether the run under way behaves as before ``number``."""
        return self.in_force < number

    def covers(self, package: str) -> bool:
        """Tell whether the prompts of a package are this engine's."""
        return any(package == own or package.startswith(f"{own}.") for own in self.packages)


RUNTIME = Behaviour("llm_runtime", number=5, packages=("llm_runtime",), unnumbered=2)
"""How answers are read. 2: of several objects in an answer the last that fits counts, no longer the first. 3: half of a
character in an object is U+FFFD, and the object no longer broken. 4: where no object fits, quotes of print,
comments behind a brace, signs that cannot be seen and an object within a string are read. 5: an object that gives a
name two values is refused."""
Numbers = Sequence[tuple[Behaviour, int]]
_CHOSEN: ContextVar[Numbers] = ContextVar("behaviours", default=())


@contextmanager
def behaving(numbers: Numbers) -> Generator[None]:
    """Let engines behave by these numbers, here and in every task and thread that is started here."""
    token = _CHOSEN.set([(behaviour, number) for behaviour, number in numbers if number != behaviour.number])
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def recalls(numbers: Numbers) -> bool:
    """Tell whether what a log asked is asked in the log's own words."""
    return any(number < behaviour.recalled for behaviour, number in numbers)


def number_of_prompts(package: str) -> int | None:
    """Return the number by which the prompts of a package are chosen; ``None`` for today's."""
    return next((number for behaviour, number in _CHOSEN.get() if behaviour.covers(package)), None)

"""Records: what a class below `Struct` is."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace
from typing import Generic, TypeVar

import pytest
from pydantic import TypeAdapter

from llm_runtime.structs import Struct

T = TypeVar("T")


class Point(Struct):
    """A place, and what is said of it."""

    x: int
    y: int = 0
    notes: list[str] = field(default_factory=list[str])

    @property
    def sum(self) -> int:
        """Both together."""
        return self.x + self.y


class Named(Point):
    """A place with a name."""

    name: str = ""


class Held(Struct, Generic[T]):
    """Whatever is held."""

    what: T


def test_a_record_is_frozen_has_slots_and_no_room_for_more():
    point = Point(1, 2)

    with pytest.raises(FrozenInstanceError):
        point.x = 3  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(point, "__dict__")
    assert Point.__slots__ == ("x", "y", "notes") and Named.__slots__ == ("name",)


def test_records_are_equal_by_their_class_and_fields_and_have_a_hash_where_their_fields_have_one():
    assert Point(1) == Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert {Held("a"), Held("a")} == {Held("a")}


def test_what_the_library_does_with_dataclasses_it_does_with_records():
    point = replace(Point(1, 2), y=5)

    assert (point.sum, asdict(point)) == (6, {"x": 1, "y": 5, "notes": []})
    assert repr(Named(1, name="home")) == "Named(x=1, y=0, notes=[], name='home')"
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == point  # noqa: S301
    match point:
        case Point(x, y):
            assert (x, y) == (1, 5)
    assert TypeAdapter(Point).validate_json('{"x": 1}') == Point(1)


class Kept(Struct):
    """What is told, compared and hashed in part."""

    x: int
    note: str = field(default="", compare=False)
    secret: str = field(default="", repr=False)
    parts: dict[str, int] = field(default_factory=dict[str, int], hash=False)


@dataclass(frozen=True, slots=True)
class Twin:
    """The same, as the library makes it."""

    x: int
    note: str = field(default="", compare=False)
    secret: str = field(default="", repr=False)
    parts: dict[str, int] = field(default_factory=dict[str, int], hash=False)


_GIVEN = [(1,), (1, "n"), (1, "", "s"), (2,), (1, "", "", {"a": 1})]


@pytest.mark.parametrize("left", _GIVEN)
@pytest.mark.parametrize("right", _GIVEN)
def test_a_record_tells_compares_and_hashes_itself_as_the_library_has_it(left: tuple[int], right: tuple[int]):
    assert repr(Kept(*left)).replace("Kept", "Twin") == repr(Twin(*left))
    assert (Kept(*left) == Kept(*right)) == (Twin(*left) == Twin(*right))
    assert (hash(Kept(*left)) == hash(Kept(*right))) == (hash(Twin(*left)) == hash(Twin(*right)))

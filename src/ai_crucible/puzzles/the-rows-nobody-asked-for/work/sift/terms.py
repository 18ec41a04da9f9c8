"""What queries are made of."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Column:
    """A column of a shelf under its alias."""

    alias: str
    name: str


@dataclass(frozen=True)
class Literal:
    """A number, a text or nothing."""

    value: object


@dataclass(frozen=True)
class Compare:
    """Two operands and the sign between them."""

    sign: str
    left: object
    right: object


@dataclass(frozen=True)
class Null:
    """Whether an operand is null, or is not."""

    operand: object
    negated: bool = False


@dataclass(frozen=True)
class In:
    """Whether an operand is one of a list of values, or is not."""

    operand: object
    values: tuple
    negated: bool = False


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    part: object


@dataclass(frozen=True)
class And:
    """Conditions that all hold."""

    parts: tuple


@dataclass(frozen=True)
class Or:
    """Conditions of which one holds."""

    parts: tuple


@dataclass(frozen=True)
class Source:
    """A shelf of a query: how it is joined (``from``, ``join``, ``left``), and on what."""

    shelf: str
    alias: str
    kind: str = "from"
    on: object = None


@dataclass(frozen=True)
class Key:
    """A column to order by."""

    column: Column
    descending: bool = False
    nulls_first: object = None


@dataclass
class Query:
    """A query; ``columns`` is ``None`` for all."""

    columns: object
    sources: list
    where: object = None
    keys: list = field(default_factory=list)
    limit: object = None

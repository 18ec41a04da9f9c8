"""Steps, and what they do plainly: each takes fields and returns new ones."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rename:
    old: str
    new: str

    def up(self, fields):
        return _moved(fields, self.old, self.new)

    def down(self, fields):
        return _moved(fields, self.new, self.old)


def _moved(fields, old, new):
    rest = {name: value for name, value in fields.items() if name != old}
    return {**rest, new: fields[old]} if old in fields else rest


@dataclass(frozen=True)
class Add:
    name: str
    value: object

    def up(self, fields):
        return {self.name: self.value, **fields}

    def down(self, fields):
        return _without(fields, self.name)


@dataclass(frozen=True)
class Drop:
    name: str
    value: object

    def up(self, fields):
        return _without(fields, self.name)

    def down(self, fields):
        return {self.name: self.value, **fields}


def _without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


@dataclass(frozen=True)
class Join:
    first: str
    second: str
    whole: str
    text: str

    def up(self, fields):
        first, second = fields.get(self.first), fields.get(self.second)
        if not isinstance(first, str) or not isinstance(second, str):
            return dict(fields)
        return {**_without(fields, self.first, self.second), self.whole: f"{first}{self.text}{second}"}

    def down(self, fields):
        if not isinstance(fields.get(self.whole), str):
            return dict(fields)
        first, _, second = fields[self.whole].rpartition(self.text)
        return {**_without(fields, self.whole), self.first: first, self.second: second}


@dataclass(frozen=True)
class Map:
    name: str
    pairs: tuple

    def up(self, fields):
        return self._by(dict(self.pairs), fields)

    def down(self, fields):
        return self._by({new: old for old, new in self.pairs}, fields)

    def _by(self, table, fields):
        return {name: table.get(value, value) if name == self.name else value for name, value in fields.items()}


@dataclass(frozen=True)
class Scale:
    name: str
    times: int

    def up(self, fields):
        return self._by(lambda number: number * self.times, fields)

    def down(self, fields):
        return self._by(lambda number: int(number / self.times), fields)

    def _by(self, change, fields):
        changed = isinstance(fields.get(self.name), int)
        return {**fields, self.name: change(fields[self.name])} if changed else dict(fields)


@dataclass(frozen=True)
class Listed:
    name: str

    def up(self, fields):
        return {**fields, self.name: [fields[self.name]] if self.name in fields else []}

    def down(self, fields):
        value = fields.get(self.name)
        if not isinstance(value, list):
            return dict(fields)
        return {**fields, self.name: value[0]} if value else _without(fields, self.name)

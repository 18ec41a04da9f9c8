"""Steps, and what they do plainly: each takes fields and returns new ones."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rename:
    old: str
    new: str

    @property
    def names(self):
        return {self.old, self.new}

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

    @property
    def names(self):
        return {self.name}

    def up(self, fields):
        return {self.name: self.value, **fields}

    def down(self, fields):
        return _without(fields, self.name)


@dataclass(frozen=True)
class Drop:
    name: str
    value: object

    @property
    def names(self):
        return {self.name}

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

    @property
    def names(self):
        return {self.first, self.second, self.whole}

    def up(self, fields):
        parts = [fields[name] for name in (self.first, self.second) if name in fields]
        if not parts or not all(isinstance(part, str) for part in parts):
            return dict(fields)
        whole = self.text.join(parts) if self.first in fields else self.text + parts[0]
        return {**_without(fields, self.first, self.second), self.whole: whole}

    def down(self, fields):
        if not isinstance(fields.get(self.whole), str):
            return dict(fields)
        parts = fields[self.whole].split(self.text, 1)
        return {**_without(fields, *self.names), **dict(zip((self.first, self.second), parts))}


@dataclass(frozen=True)
class Map:
    name: str
    pairs: tuple

    @property
    def names(self):
        return {self.name}

    def up(self, fields):
        return self._by(dict(self.pairs), fields)

    def down(self, fields):
        return self._by({new: old for old, new in reversed(self.pairs)}, fields)

    def _by(self, table, fields):
        value = fields.get(self.name)
        return {**fields, self.name: table[value]} if isinstance(value, str) and value in table else dict(fields)


@dataclass(frozen=True)
class Scale:
    name: str
    times: int

    @property
    def names(self):
        return {self.name}

    def up(self, fields):
        return self._by(lambda number: number * self.times, fields)

    def down(self, fields):
        return self._by(lambda number: number // self.times, fields)

    def _by(self, change, fields):
        changed = type(fields.get(self.name)) is int
        return {**fields, self.name: change(fields[self.name])} if changed else dict(fields)


@dataclass(frozen=True)
class Listed:
    name: str

    @property
    def names(self):
        return {self.name}

    def up(self, fields):
        return {**fields, self.name: [fields[self.name]] if self.name in fields else []}

    def down(self, fields):
        value = fields.get(self.name)
        if not isinstance(value, list):
            return dict(fields)
        return {**fields, self.name: value[0]} if value else _without(fields, self.name)

"""Reads queries."""

import re

from sift.errors import QueryError
from sift.terms import And, Column, Compare, In, Key, Literal, Not, Null, Or, Query, Source

TOKEN = re.compile(r"\s*(?:([a-z_][a-z0-9_]*)|(-?[0-9]+)|'((?:[^']|'')*)'|(<=|>=|<>|[=<>().,*]))")
RESERVED = {"select", "from", "left", "join", "on", "where", "order", "by", "desc", "nulls", "first", "last", "limit", "and", "or", "not", "is", "in", "null"}
SIGNS = ("=", "<>", "<", "<=", ">", ">=")


def parse(text):
    """Return the query that a text is."""
    return _Reader(text).query()


class _Reader:
    def __init__(self, text):
        self.tokens, at, text = [], 0, text.rstrip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if match is None:
                raise QueryError(f"cannot read {text[at:]!r}")
            word, number, letters, sign = match.groups()
            kind = "word" if word else "number" if number else "sign" if sign else "text"
            self.tokens.append((kind, word or number or sign or letters.replace("''", "'")))
            at = match.end()
        self.tokens.append(("end", ""))

    def take(self, *words):
        """Take the next words if they are these."""
        ahead = self.tokens[: len(words)]
        if [each for _, each in ahead] != list(words) or any(kind not in ("word", "sign") for kind, _ in ahead):
            return False
        del self.tokens[: len(words)]
        return True

    def need(self, *words):
        if not self.take(*words):
            raise QueryError(f"{' '.join(words)} is missing before {self.tokens[0][1]!r}")

    def name(self):
        kind, word = self.tokens[0]
        if kind != "word" or word in RESERVED:
            raise QueryError(f"{word!r} is no name")
        return self.tokens.pop(0)[1]

    def many(self, one):
        found = [one()]
        while self.take(","):
            found.append(one())
        return found

    def query(self):
        self.need("select")
        columns = None if self.take("*") else self.many(self.column)
        self.need("from")
        sources = [self.source("from")]
        while self.tokens[0][1] in ("left", "join") and self.tokens[0][0] == "word":
            kind = "left" if self.take("left") else "join"
            self.need("join")
            sources.append(self.source(kind))
        where = self.either() if self.take("where") else None
        keys = self.many(self.key) if self.take("order", "by") else []
        limit = None
        if self.take("limit"):
            limit = self.literal()
            if not isinstance(limit, int) or limit < 0:
                raise QueryError("a limit is a number")
        if self.tokens[0][0] != "end":
            raise QueryError(f"{self.tokens[0][1]!r} is too much")
        return Query(columns, sources, where, keys, limit)

    def source(self, kind):
        shelf = self.name()
        alias = self.name() if self.tokens[0][0] == "word" and self.tokens[0][1] not in RESERVED else shelf
        if kind == "from":
            return Source(shelf, alias)
        self.need("on")
        return Source(shelf, alias, kind, self.either())

    def column(self):
        alias = self.name()
        self.need(".")
        return Column(alias, self.name())

    def key(self):
        column, descending, first = self.column(), self.take("desc"), None
        if self.take("nulls", "first"):
            first = True
        elif self.take("nulls", "last"):
            first = False
        return Key(column, descending, first)

    def either(self):
        parts = [self.both()]
        while self.take("or"):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def both(self):
        parts = [self.negated()]
        while self.take("and"):
            parts.append(self.negated())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def negated(self):
        if self.take("not"):
            return Not(self.negated())
        if self.take("("):
            found = self.either()
            self.need(")")
            return found
        return self.compared()

    def compared(self):
        left = self.operand()
        if self.take("is"):
            negated = self.take("not")
            self.need("null")
            return Null(left, negated)
        negated = self.take("not")
        if self.take("in"):
            self.need("(")
            values = self.many(self.literal)
            self.need(")")
            return In(left, tuple(values), negated)
        kind, sign = self.tokens[0]
        if negated or kind != "sign" or sign not in SIGNS:
            raise QueryError(f"{sign!r} compares nothing")
        self.tokens.pop(0)
        return Compare(sign, left, self.operand())

    def operand(self):
        kind, word = self.tokens[0]
        return self.column() if kind == "word" and word != "null" else Literal(self.literal())

    def literal(self):
        kind, word = self.tokens[0]
        if self.take("null"):
            return None
        if kind not in ("number", "text"):
            raise QueryError(f"{word!r} is no literal")
        self.tokens.pop(0)
        return int(word) if kind == "number" else word

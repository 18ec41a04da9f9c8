"""Right answers by a way of their own, and the inputs that they are asked for."""

import hashlib
import itertools


def sign(key, version, client, server):
    return hashlib.sha256("|".join([key, str(version), client, server]).encode()).hexdigest()


def message(random, **other):
    parts = {"version": 1, "client": random.choice(["c", "client 7", "é|x", "0", " ", "two\nlines", "False"]), "server": random.choice(["s", "srv", "ü", "\n"])}
    parts.update(other)
    key = random.choice(["k", "", "key"])
    whole = {**parts, "signature": sign(key, parts["version"], parts["client"], parts["server"])}
    return key, whole


def genuine(random):
    while True:
        key, whole = message(random)
        yield {"args": [key, whole], "expect": True}
        yield {"args": [key, {**whole, "more": 7}], "expect": True}


def forged(random):
    while True:
        key, whole = message(random)
        # What was right once is no reason for another.
        yield {"args": [key, whole], "expect": True}
        right = whole["signature"]
        for signature in ("forged", "", right[:-1], right + "0", right.upper() + " ", right.upper(), right.swapcase(), right.title(), " " + right, right + " ", right + "\n", "\n" + right, right + "\0", "\ufeff" + right, right[::-1], right[1:], right * 2, "0x" + right, "ü" * 64, "\ud800" * 64, right + "\udfff", right.encode().hex(), hashlib.sha256(right.encode()).hexdigest(), right[:63], right[:32], "0" * 64, right[1:] + right[0], "\u0430" + right[1:], right.translate({ord(c): 0xFF10 + int(c) for c in "0123456789"}), right.replace("a", "A"), {}, False, 1.5, float("nan"), (), set(), None, 0, 7, b"x", right.encode(), [], [right], (right,), {right: right}, True, 10**30):
            if signature == right:
                continue
            yield {"args": [key, {**whole, "signature": signature}], "expect": False}
        yield {"args": [key + "x", whole], "expect": False}
        # What is no Unicode cannot be signed, so nothing signs it.
        yield {"args": [key, {**whole, random.choice(["client", "server"]): random.choice(["\ud800", "c\udfff"])}], "expect": False}
        yield {"args": ["\udc80", whole], "expect": False}
        yield {"args": [key, {**whole, "client": whole["client"] + "x"}], "expect": False}
        yield {"args": [key, {**whole, "server": "x" + whole["server"]}], "expect": False}


def lacking(random):
    while True:
        key, whole = message(random)
        for part in ("version", "client", "server", "signature"):
            yield {"args": [key, {name: value for name, value in whole.items() if name != part}], "expect": False}
        yield {"args": [key, {}], "expect": False}
        names = ["version", "client", "server", "signature"]
        for size in (1, 2):
            for kept in itertools.combinations(names, size):
                yield {"args": [key, {name: whole[name] for name in kept}], "expect": False}
        yield {"args": [key, {name.title(): value for name, value in whole.items()}], "expect": False}
        yield {"args": [key, {**{name: value for name, value in whole.items() if name != "server"}, "Server": "s", "more": 1}], "expect": False}
        for part in ("client", "server"):
            yield {"args": list(message(random, **{part: ""})), "expect": False}
        yield {"args": list(message(random, client="", server="")), "expect": False}
        for part in ("client", "server"):
            yield {"args": [key, {**whole, part: None}], "expect": False}


def version(random):
    while True:
        for other in (2, 0, -1, 11, 10, 3, 257, 2**32 + 1, 2**64 + 1, "01", " 1", "1.0", "\u0661", b"1", {}, [], float("nan"), 1.0000001, 10**30 + 1, 1.5, None, "1", "", [1]):
            yield {"args": list(message(random, version=other)), "expect": False}

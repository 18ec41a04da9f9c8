"""Right answers by a way of their own, and the inputs that they are asked for."""

from fractions import Fraction

UNITS = {"N*s": Fraction(1), "kN*s": Fraction(1000), "lbf*s": Fraction("4.4482216152605")}
NAMES = ["a", "b 7", '"north, upper"', '"say ""go"""', "7", '"two\nlines"', "\u00e9"]


def number(random):
    return random.choice(["0", "1", "-2.5", "1e3", f"{random.uniform(-500, 500):.3f}", str(random.randint(0, 9999))])


def table(rows):
    return "id,impulse,unit\n" + "".join(",".join(row) + "\n" for row in rows)


def near(rows):
    parts = [Fraction(value.strip('"')) * UNITS[unit.strip('"')] for _, value, unit in rows]
    total = sum(parts, Fraction(0))
    # Half of the last decimal, and what floats lose on the way.
    most = Fraction(1, 2 * 10**6) + sum(map(abs, parts)) * (len(parts) + 4) / 2**52

    def holds(answer):
        return abs(Fraction(answer) - total) <= most and round(answer, 6) == answer

    return {"args": [table(rows)], "holds": holds}


def mixed(random):
    for unit in UNITS:
        yield near([("a", "10", unit)])
        yield near([('"north, upper"', "0.1234567", unit), ("b", "1", "kN*s")])
        yield near([("a", "1e15", unit), ("b", "0.5", "N*s")])
        yield near([("a", "-0.0001", unit)] * 2500)
    yield near([("a", "1", '"N*s"'), ('"b"', '"2.5"', '"lbf*s"'), ("c", '"-3"', '"kN*s"')])
    yield near([('"N*s"', "1", "lbf*s"), ('"a,1,kN*s"', "2", "N*s"), ('"x\nb,9,lbf*s"', "3", "kN*s"), ("lbf*s", "4", "N*s"), ("", "5", "kN*s"), ("a", "1", "lbf*s"), ("a", "1", "lbf*s")])
    for unit in UNITS:
        yield near([("a", "123456.7890123", unit), ("b", "-0.0000005", unit), ("c", "1e-9", unit)])
        yield near([("a", "1e9", unit), ("b", "-1e9", unit), ("c", "0.1", "N*s")])
    small = {"N*s": "0.0000004", "kN*s": "0.0000000004", "lbf*s": "0.00000009"}
    yield near([("a", value, unit) for unit, value in small.items()])
    for unit, value in small.items():
        yield near([("a", value, unit)] * 20)
        yield near([("a", "-" + value, unit)] * 60)
    while True:
        # What lies beyond the sixth decimal adds up.
        count = random.randint(2, 60)
        yield near([(random.choice(NAMES), f"{random.randint(0, 2)}.{random.randint(0, 9)}00000{random.choice('4467')}", "N*s") for _ in range(count)])
        rest = random.choice(list(UNITS))
        yield near([(random.choice(NAMES), small[rest], rest) for _ in range(count)] + [("z", number(random), "lbf*s")])
        yield near([(random.choice(NAMES), number(random), random.choice(list(UNITS))) for _ in range(random.randint(1, 8))] + [("z", "3", "lbf*s")])


def plain(random):
    yield near([])
    while True:
        yield near([(random.choice(NAMES), number(random), "N*s") for _ in range(random.randint(0, 8))])


def unknown(random):
    for unit in ("dyn*s", "", "N", "n*s", "lbf", "KN*s", "LBF*S", "N*S", "N*s*s", " N*s", "lbf*s ", "kN*s\t", '"N*s\n"', '"lbf*s\n"', "\ufeffN*s", "N\u2217s", "\uff2e*s", "N*s\u00a0", "N s", "kN", "0", "Ns", "N*S", "N.s", "N\u00b7s", "kn*s", "Kn*s", "lbf", "lb*s", "lbf*s*s", "mN*s", "MN*s", "kkN*s", "N*s/kN*s", "N*s;", "N*s\0", "k N*s", "n\u2217s", "unit", "None", "1", "\u212aN*s", "\u200bN*s", "N*s\x1f", "\x1cN*s"):
        yield {"args": [table([("a", "1", "N*s"), ("b", "2", unit)])], "raises": "ValueError"}
        yield {"args": [table([("b", "0", unit)])], "raises": "ValueError"}
        yield {"args": [table([("b", "5", unit), ("a", "1", "N*s"), ("c", "2", "lbf*s")])], "raises": "ValueError"}
    yield {"args": ["id,impulse,unit\nb,1,N*s\na,1\nc,1,N*s\n"], "raises": "ValueError"}
    yield {"args": ["id,impulse,unit\na,1\n"], "raises": "ValueError"}

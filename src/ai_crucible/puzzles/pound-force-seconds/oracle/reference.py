"""Right answers by a way of their own, and the inputs that they are asked for."""

from fractions import Fraction

UNITS = {"N*s": Fraction(1), "kN*s": Fraction(1000), "lbf*s": Fraction("4.4482216152605")}
NAMES = ["a", "b 7", '"north, upper"', '"say ""go"""', "7"]


def number(random):
    return random.choice(["0", "1", "-2.5", "1e3", f"{random.uniform(-500, 500):.3f}", str(random.randint(0, 9999))])


def table(rows):
    return "id,impulse,unit\n" + "".join(",".join(row) + "\n" for row in rows)


def near(rows):
    total = sum((Fraction(value) * UNITS[unit] for _, value, unit in rows), Fraction(0))

    def holds(answer):
        return abs(Fraction(answer) - total) <= Fraction(2, 10**6) and round(answer, 6) == answer

    return {"args": [table(rows)], "holds": holds}


def mixed(random):
    for unit in UNITS:
        yield near([("a", "10", unit)])
        yield near([('"north, upper"', "0.1234567", unit), ("b", "1", "kN*s")])
    while True:
        yield near([(random.choice(NAMES), number(random), random.choice(list(UNITS))) for _ in range(random.randint(1, 8))] + [("z", "3", "lbf*s")])


def plain(random):
    yield near([])
    while True:
        yield near([(random.choice(NAMES), number(random), "N*s") for _ in range(random.randint(0, 8))])


def unknown(random):
    for unit in ("dyn*s", "", "N", "n*s", "lbf", "KN*s", "LBF*S", "N*S", "N*s*s", " N*s", "lbf*s ", "kN*s\t"):
        yield {"args": [table([("a", "1", "N*s"), ("b", "2", unit)])], "raises": "ValueError"}
        yield {"args": [table([("b", "0", unit)])], "raises": "ValueError"}
    yield {"args": ["id,impulse,unit\na,1\n"], "raises": "ValueError"}

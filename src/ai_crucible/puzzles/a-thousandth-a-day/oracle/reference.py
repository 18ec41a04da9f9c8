"""Right answers by a way of their own, and the inputs that they are asked for."""

def scaled(text, places):
    """Return a decimal text as a whole number of units of the last place."""
    sign = -1 if text.startswith("-") else 1
    whole, _, rest = text.lstrip("-").partition(".")
    return sign * int((whole or "0") + rest.ljust(places, "0"))


def known(index, changes):
    value = scaled(index, 3)
    for change in changes:
        places = max(3, len(change.partition(".")[2]))
        exact = value * 10 ** (places - 3) + scaled(change, places)
        unit = 10 ** (places - 3)
        steps, rest = divmod(abs(exact), unit)
        steps += 2 * rest >= unit and rest > 0
        value = steps if exact > 0 else -steps
    return f"{'-' if value < 0 else ''}{abs(value) // 1000}.{abs(value) % 1000:03}"


def case(index, changes):
    return {"args": [index, changes], "expect": known(index, changes)}


def many(random):
    for count in (1000, 1, 10, 500):
        yield {"args": [count], "expect": known("1000.000", ["0.0009"] * count)}


def halves(random):
    for index, changes in (("1.000", ["0.0005"]), ("-1.000", ["-0.0005"]), ("1.000", ["0.0015"]), ("0.000", ["0.0005"]), ("0.000", ["-0.0005"]), ("-0.001", ["0.0005"]), ("0.001", ["-0.0005"]), ("-0.001", ["0.0006"]), ("2.675", ["0.0005"]), ("0.000", ["0.0004", "0.0001"]), ("0.001", ["-0.0015"]), ("-0.001", ["0.0015"]), ("0.000", ["0.0005" + "0" * 3990]), ("0.000", ["-0.0005" + "0" * 3990]), ("1.000", ["-1.0005"]), ("0.000", ["-0.0005", "0.0005"]), ("0.000", ["0.00049", "0.00001"]), ("1.000", ["0.00050", "-0.00050"]), ("9.999", ["0.0005"]), ("-9.999", ["-0.0005"]), ("99.999", ["0.00049", "0.0005"])):
        yield case(index, changes)
    while True:
        index = f"{random.choice(['', '-'])}{random.randint(0, 50)}.{random.randint(1, 999):03}"
        yield case(index, [f"{random.choice(['', '-'])}{random.randint(0, 3)}.{random.randint(0, 999):03}{random.choice(['5', '50', '4', '6', '49', '51'])}" for _ in range(random.randint(1, 4))])


def exact(random):
    for index, changes in (("0.100", ["0.200", "0.0004"]), ("1.005", ["0"]), ("0.000", ["0.0004999999999999999999999999999999999"]), ("0.000", ["0.0005000000000000000000000000000000001", "-0.00049999999999999999999999999999999999"]), ("12345678901234567890123456789012345.678", ["0.0005", "1"]), ("0.000", ["99999999999999999999999999999999.9995"]), ("0.000", ["-0.0001"]), ("-0.001", ["0.001"]), ("1.000", ["-1"]), ("-0.000", []), ("-0.000", ["-0"]), ("-0.000", ["-0.0004"]), ("0.000", ["-0.0", "-00"]), ("0.000", ["007.0005", "-000.0"]), ("-5.000", ["00005", "-0.0004999"]), ("0.000", ["0.001"] * 3000), ("0.000", ["0.0005", "-0.0005"] * 1500)):
        yield case(index, changes)
    for size in (60, 90, 100, 110, 130, 300, 1000, 2000, 3990):
        # Beyond any precision that one may set beforehand: above the last half, below it, and behind many whole digits.
        for first, sign in ("0.0004", ""), ("0.000" + "4" * 9, "-"), ("0." + "9" * 9, ""):
            yield case("0.000", [sign + first + "9" * (size - len(first))])
        yield case("9" * (size - 4) + ".999", ["0.0005", "-0.0006"])
        yield case("1.000", ["9" * size, "-0.0005", "-" + "9" * (size - 4) + ".9995"])
        yield case("0.000", ["0.0005" + "0" * (size - 8) + "1", "-0.0005" + "0" * (size - 8) + "1"])
    # The longest that there are: four thousand characters each.
    longest = ["9" * 4000, "-" + "9" * 3999, "0." + "9" * 3998, "-0.0004" + "9" * 3993, "9" * 1999 + "." + "5" * 2000]
    for index in ("9" * 3996 + ".999", "-" + "9" * 3995 + ".999", "1" + "0" * 3995 + ".000", "0.000"):
        for change in longest:
            yield case(index, [change])
        yield case(index, longest)
    for size in (800, 2400, 3990):
        # A long index and a long change in one step: more digits together than either has.
        whole = "1" + "0" * (size - 5)
        for change in ("0.0004" + "9" * (size - 6), "-0.0005" + "0" * (size - 8) + "1", "-0.000" + "4" * (size - 6)):
            yield case(whole + ".000", [change])
            yield case("-" + whole[1:].replace("0", "3") + ".001", [change])
    for _ in range(10):
        before, behind = random.randint(1, 1990), random.randint(1, 1990)
        yield case("0.000", [f"{random.choice(['', '-'])}{random.randrange(10**before)}.{'0' * random.randint(0, 3)}{random.randrange(10**behind)}" for _ in range(2)])
    while True:
        long = "".join(random.choice("0123456789") for _ in range(random.randint(1, 45)))
        yield case(f"{random.randint(0, 10**random.randint(1, 40))}.{random.randint(0, 999):03}", [f"{random.choice(['', '-'])}{random.randint(0, 9)}.{random.choice(['000', '0004', '000499999', ''])}{long}" for _ in range(random.randint(1, 3))])


def whole(random):
    yield case("10.000", ["1", "-2.5"])
    yield case("0.000", [])
    yield case("7.250", [])
    while True:
        index = f"{random.randint(0, 99)}.{random.choice(['000', '250', '500', '125'])}"
        yield case(index, [random.choice(["1", "0.5", "0.25", "2", "0", "0.125"]) for _ in range(random.randint(0, 5))])

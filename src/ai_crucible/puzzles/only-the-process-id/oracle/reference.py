"""Right answers by a way of their own, and the inputs that they are asked for."""

import re

LONG = b"0123456789abcdef"


def expected(pid, steps):
    """Return what makes each key what it is: all that came before it."""
    past, size, taken = [pid], 0, []
    for step in steps:
        if step is None and size < 16:
            taken.append("refused")
            continue
        if step is None:
            taken.append(tuple(past))
        else:
            size += len(step)
        past.append(step)
    return taken


def case(histories):
    wanted = [expected(pid, steps) for pid, steps in histories]

    def holds(answer):
        if [len(keys) for keys in answer] != [len(keys) for keys in wanted]:
            return False
        pairs = [pair for keys, past in zip(answer, wanted) for pair in zip(keys, past)]
        known = {}
        for key, past in pairs:
            if past == "refused" or key == "refused":
                if past != key:
                    return False
                continue
            if not isinstance(key, str) or not re.fullmatch("[0-9a-fA-F]{64}", key) or known.setdefault(past, key) != key:
                return False
        return len(set(known.values())) == len(known)

    return {"args": [histories], "holds": holds}


def some(random, least=0):
    return bytes(random.randrange(256) for _ in range(random.randint(least, 40)))


def after(additions, pid=1):
    return pid, [LONG, *additions, None]


def letters(random, size):
    return bytes(random.choices(b"abcdefghijklmnopqrstuvwxyz", k=size))


def joined(random):
    """One addition that has between its parts what may stand between two."""
    x, y = letters(random, random.randint(0, 3)), letters(random, random.randint(1, 3))
    marks = [bytes([value]) for value in range(256)]
    marks += [b"\0\0", b"\r\n", b", ", b"', b'", b'", b"', b"', '", b"::", b"||", b"--", b"add", b"add:", b"None", b"key", b"next", b"!", b"+%d:" % len(y)]
    # An end and a beginning of the pool's own, as it may write them around each addition.
    ends = [b"", b"\0", b"\n", b" ", b",", b":", b";", b"|", b"/", b"\x1e", b"\x1f", b"\xff", b")", b"]", b"\0\0"]
    marks += [end + tag for end in ends for tag in (b"a", b"b", b"d", b"e", b"m", b"A", b"B", b"D", b"add", b"data", b"(", b"[", b"\x01", b"\x02", b"\0\x01")]
    yield case([after([x, y]), *[after([x + mark + y]) for mark in marks]])
    # A mark of the pool's own, where a key was taken or nothing was added.
    words = [b"", b"\0", b"!", b"key", b"key 1", b"key 2", b"key:", b"next", b"next:", b"None", b"refused", b"1", b"2", b"pid 1"]
    yield case([(1, [LONG, None, None]), *[(1, [LONG, word, None]) for word in words], *[(1, [LONG, None, word, None]) for word in words]])


def lengths(random):
    """One addition that looks like several where a length stands before or behind each, in another code each time."""
    for code, base in (("%d", 10), ("%x", 16), ("%X", 16)):
        for d in random.sample(range(base - 4), 5):
            # A length of two digits, of which the second is read as an addition of one byte.
            digit, part, rest = b"%x" % d, letters(random, base - 2), letters(random, d)
            if code == "%X":
                digit = digit.upper()
            size = (code % (base - 2)).encode()
            yield case([after([size + part + digit + rest]), after([digit, part, rest])])
            yield case([after([rest + digit + part + size]), after([rest, part, digit])])
    # Arguments stand in the answers again, which may not be large: the long ones are few.
    for width, order in ((1, "big"), (2, random.choice(["big", "little"]))):
        # A length that went round: 1 byte, and what looks like one more addition.
        most = 256**width
        x, y = letters(random, 1), b"z" * (most - width)
        size = len(y).to_bytes(width, order)
        yield case([after([x + size + y]), after([x, y])])
        if width == 1:
            yield case([after([y + size + x]), after([y, x])])


def much(random):
    """The first byte, one in the middle and the last of very much."""
    for sizes in ([5_000], [random.randint(10_000, 20_000)], [50] * 120, [1_000] * 12, [16, 9_000]):
        parts = [bytearray(letters(random, 1) * size) for size in sizes]
        histories = [after(map(bytes, parts))]
        for part, place in ((0, 0), (len(parts) // 2, sizes[len(parts) // 2] // 2), (-1, -1)):
            parts[part][place] ^= 1
            histories.append(after(map(bytes, parts)))
            parts[part][place] ^= 1
        yield case(histories)
    other = bytes([LONG[0] ^ 1]) + LONG[1:]
    yield case([(1, [first, *[None] * 300, b"x" * 3_000, None]) for first in (LONG, other)])


def processes(random):
    """Ids that differ in one bit, or by a power of ten, up to the largest there may be."""
    for base in (1, random.randint(2, 2**21)):
        pids = {base, *[base + 2**k for k in range(22)], *[base ^ 2**k for k in range(22)], *[base + 10**k for k in range(7)], *[base * 10**k for k in range(1, 3)]}
        yield case([after([], pid) for pid in sorted(pids)])


def beside_the_id(random):
    """An id that is longer by a figure, which the first addition or its length begins with otherwise."""
    for code, base in (("%d", 10), ("%x", 16)):
        for mark in (b"", b":", b" ", b",", b"|", b";", b"\0", b"\n", b"-", b"::"):
            d, size = random.randint(1, base - 1), base - 1 - len(mark)
            part, rest = letters(random, d), letters(random, size)
            whole = part + (code % size).encode() + mark + rest
            yield case([(7, [whole, LONG, None]), (71, [part, rest, LONG, None])])
    for pid in (1, 40):
        begun = [(pid, [b"%d" % n + LONG, None]) for n in range(10)] + [(10 * pid + n, [LONG, None]) for n in range(10)]
        yield case([*begun, (pid, [LONG, None]), *[(pid, [mark + LONG, None]) for mark in (b":", b" ", b",", b"|", b"0x", b"-", b"\0")]])
    yield case([(1, [b"0", b"23", LONG, None]), (10, [b"2", b"3", LONG, None]), (102, [b"3", b"", LONG, None]), (1023, [b"", b"", LONG, None])])


def every_byte(random):
    for kind in (joined, lengths, beside_the_id, much, processes):
        yield from kind(random)
    yield case([after([bytes([value])]) for value in range(256)] + [after([])])
    yield case([(1, [bytes([value]) * 16, None]) for value in range(256)])
    for place in (0, 7, 15):
        for start in (LONG, bytes(16), b"\xff" * 16):
            yield case([(1, [start, None]), *[(1, [start[:place] + bytes([start[place] ^ 2**bit]) + start[place + 1 :], None]) for bit in range(8)]])
    x, y, z = (some(random, 1) for _ in range(3))
    yield case([after(parts) for parts in dict.fromkeys([(x, y, z), (x, z, y), (y, x, z), (y, z, x), (z, x, y), (z, y, x), (x + y + z,), (x, y + z), (x + y, z), (x, x, y, z), (x, y), (y, x), (x, b"", y, z), (b"", x, y, z), (x, y, z, b"")])])
    # Text that is the same to somebody: in case, blanks, line ends, other figures, other codes.
    words = [b"Ab", b"ab", b"AB", b" ab", b"ab ", b"a b", b"ab\n", b"ab\r\n", b"\tab", b"ab\0", b"\0ab", b"6162", b"YWI=", b"\xc3\xa9", b"\xe9", b"e\xcc\x81", b"?", b"\xef\xbf\xbd", b"\xff", b"\\xff", b"a", b"b", b"ba", b"[b'ab']", b"b'ab'", b"1", b"01", b"001", b"+1", b"1.0"]
    yield case([after([word]) for word in words] + [(1, [word + LONG, None]) for word in words])
    # A key before the first, between and behind all additions.
    yield case([(1, [LONG, x, y, None]), (1, [LONG, None, x, y, None]), (1, [LONG, x, None, y, None]), (1, [LONG, None, None, x, y, None]), (1, [LONG, x, None, None, y, None])])
    yield case([(1, [LONG, None]), (2, [LONG, None]), (12, [LONG, None])])
    yield case([(1, [LONG, b"", None]), (1, [b"", LONG, None]), (1, [LONG, None]), (1, [LONG, b"", b"", None])])
    yield case([(1, [LONG[:n], LONG[n:], None]) for n in range(17)])
    yield case([(1, [LONG[::-1], None]), (1, [LONG, None]), (1, [LONG + b"\0", None]), (1, [b"\0" + LONG, None])])
    yield case([(1, [LONG, None, None, None]), (1, [LONG, None]), (1, [LONG, LONG, None]), (1, [LONG, None, LONG, None])])
    yield case([(1, [b"1" * 16, None]), (11, [b"1" * 15, b"", b"1", None]), (1, [b"1" + b"1" * 16, None])])
    for place in range(40):
        changed = bytearray(LONG * 3)
        changed[place] ^= 1
        yield case([(7, [LONG * 3, None]), (7, [bytes(changed), None])])
    while True:
        pid, start = random.randint(1, 40_000), some(random, 16)
        steps = [start, *[random.choice([None, some(random)]) for _ in range(random.randint(0, 6))], None]
        other = list(steps)
        other[random.randrange(len(other) - 1)] = some(random, 16)
        swapped = [*steps[1:-1], steps[0], None]
        yield case([(pid, steps), (pid, other), (pid, swapped), (pid + 1, steps), (pid, [*steps, None, None])])


def too_little(random):
    yield case([(1, [None]), (1, [b"short", None]), (1, [LONG[:15], None]), (1, [b"", None]), (1, [LONG[:15], b"x", None])])
    yield case([(1, [LONG[:8], None, LONG[8:], None]), (1, [LONG[:8], LONG[8:], None])])
    while True:
        parts = [some(random)[: random.randint(0, 9)] for _ in range(random.randint(1, 5))]
        steps = [step for part in parts for step in (part, None)]
        yield case([(3, steps), (3, [*parts, None]), (3, [None, *steps])])


def trials(random):
    yield {"args": [1, ["short"]], "raises": "ValueError"}
    yield {"args": [1, []], "raises": "ValueError"}
    yield {"args": [1, ["0123456789abcdef"]], "holds": lambda answer: len(answer) == 1 and len(answer[0]) == 64}
    yield {"args": [1, ["0123456789abcdef"], 3], "holds": lambda answer: len(set(answer)) == 3}
    yield {"args": [1, ["0123456789abcdef"], 0], "expect": []}


def counted(random):
    long = "0123456789abcdef"
    yield {"args": [[1, 2], [[long], [long, ""], ["", long], [long[:8], long[8:]]], 3], "expect": [24, 24, [64]]}
    yield {"args": [[1, 1], [[long]], 2], "expect": [2, 4, [64]]}


def same_or_not(random):
    yield {"args": [], "expect": [True, False]}


def reproducible(random):
    while True:
        yield {"args": [random.randint(1, 9999), ["0123456789abcdef", "x" * random.randint(0, 9)]], "expect": True}


def at_once(random):
    """Two pools in turn give what each gives alone."""
    while True:
        plans = [(random.randint(1, 3), [some(random, 16), *[random.choice([None, some(random)]) for _ in range(random.randint(1, 6))], None]) for _ in range(2)]
        yield {"args": [plans], "expect": [True, True]}


def elsewhere(random):
    """Another process gives the same keys."""
    code = "import keys; print(keys.trial(7, ['0123456789abcdef', 'x'], 3)); p = keys.Pool(9); p.add(bytes(20)); print(p.key())"
    ways = " && ".join(f'PYTHONHASHSEED={seed} python3 -c "$1"' for seed in ("0", "1", "77"))

    def holds(seen):
        lines = seen["stdout"].splitlines()
        return seen["exit"] == 0 and len(lines) == 6 and lines[:2] == lines[2:4] == lines[4:] and lines[0] != lines[1]

    yield {"args": [["sh", "-c", ways, "run", code]], "holds": holds}

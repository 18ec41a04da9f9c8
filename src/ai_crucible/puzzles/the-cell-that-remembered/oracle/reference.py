"""Right answers by a way of their own: formulas are drawn as trees, and each question is answered from nothing."""

OPERATORS = ["+", "-", "*", "/", "&", "=", "<>", "<", "<=", ">", ">="]
NAMES = [f"{letter}{row}" for row in (1, 2, 3, 4) for letter in "ABC"]
DIV, TYPE, NAME, PARSE, CYCLE = (["error", kind, kind] for kind in ("#DIV", "#TYPE", "#NAME", "#PARSE", "#CYCLE"))


class Loop(Exception):
    def __init__(self, target):
        self.target = target


def area(random):
    """Return a range's text, and its cells row by row."""
    one, other = random.choice(NAMES), random.choice(NAMES)
    letters, rows = sorted(one[0] + other[0]), sorted(one[1] + other[1])
    text = random.choice([f"{one}:{other}", f"{other}:{one}".lower(), f"{letters[1]}{rows[0]}:{letters[0]}{rows[1]}"])
    return text, [f"{letter}{row}" for row in "1234" if rows[0] <= row <= rows[1] for letter in "ABC" if letters[0] <= letter <= letters[1]]


def tree(random, names, depth=2):
    """Return a tree over some names, with the text of each node in it."""
    kind = random.choice(["name", "name", "name", "number", "text", "both", "both", "sum", "if", "if", "iferror", "count", "sign"])
    if depth == 0 or kind in ("name", "number", "text"):
        if kind == "number":
            number = random.choice([0, 0, 1, 2, 7])
            return str(number), ("value", number)
        if kind == "text" and random.random() < 0.3:
            return '"x"', ("value", "x")
        name = random.choice(names)
        return random.choice([name, name, name.lower()]), ("cell", name)
    if kind == "both":
        mark = random.choice(OPERATORS)
        (left, one), (right, other) = tree(random, names, depth - 1), tree(random, names, depth - 1)
        return f"({left}) {mark}({right})", ("both", mark, one, other)
    if kind == "sign":
        text, one = tree(random, names, depth - 1)
        return f"-({text})", ("sign", one)
    if kind in ("if", "iferror"):
        parts = [tree(random, names, depth - 1) for _ in range(2 if kind == "iferror" else random.choice([2, 3, 3]))]
        word = random.choice([kind.upper(), kind])
        return f"{word}({', '.join(text for text, _ in parts)})", (kind, [one for _, one in parts])
    word = random.choice(["SUM", "SUM", "MIN", "MAX"]) if kind == "sum" else "COUNT"
    texts, parts = [], []
    for _ in range(random.choice([1, 1, 2])):
        if random.random() < 0.6:
            text, cells = area(random)
            if not set(cells) <= set(names):
                text, cells = f"{names[0]}:{names[0]}", [names[0]]
            texts.append(text)
            parts += [("cell", name) for name in cells]
        else:
            text, one = tree(random, names, depth - 1)
            texts.append(text)
            parts.append(one)
    return f"{word}({','.join(texts)})", (word, parts)


class Whole:
    """A sheet that is computed from nothing: what a question reads, and its answer."""

    def __init__(self, cells):
        self.cells, self.known, self.reads, self.stack, self.rounds = cells, {}, {}, [], set()

    def of(self, name):
        if name in self.known:
            return self.known[name]
        kind, content = self.cells.get(name, ("plain", None))
        if kind == "plain":
            return content
        if name in self.stack:
            raise Loop(name)
        self.stack.append(name)
        self.reads[name] = reads = []
        try:
            value = self.run(content, reads)
            value = 0 if value is None else value
        except Loop as loop:
            self.stack.pop()
            self.known[name] = CYCLE
            self.rounds.add(name)
            if loop.target != name:
                raise
            return CYCLE
        self.stack.pop()
        self.known[name] = value
        return value

    def run(self, node, reads):
        kind = node[0]
        if kind == "value":
            return node[1]
        if kind == "cell":
            value = self.of(node[1])
            reads.append((node[1], value))
            return value
        if kind == "sign":
            value = self.run(node[1], reads)
            return value if bad(value) else TYPE if isinstance(value, str) else -(value or 0)
        if kind == "both":
            left = self.run(node[2], reads)
            if bad(left):
                return left
            right = self.run(node[3], reads)
            return right if bad(right) else both(node[1], left, right)
        if kind == "if":
            test = self.run(node[1][0], reads)
            if bad(test) or isinstance(test, str):
                return TYPE if isinstance(test, str) else test
            return self.run(node[1][1], reads) if test else self.run(node[1][2], reads) if len(node[1]) == 3 else 0
        if kind == "iferror":
            value = self.run(node[1][0], reads)
            return self.run(node[1][1], reads) if bad(value) else value
        numbers = []
        for part in node[1]:
            value = self.run(part, reads)
            if bad(value) and kind != "COUNT":
                return value
            if type(value) is int:
                numbers.append(value)
        return len(numbers) if kind == "COUNT" else {"SUM": sum, "MIN": min, "MAX": max}[kind](numbers or [0])


def bad(value):
    return isinstance(value, list)


def both(mark, left, right):
    if mark == "&":
        return "".join("" if each is None else str(each) for each in (left, right))
    if mark in "+-*/":
        if isinstance(left, str) or isinstance(right, str):
            return TYPE
        left, right = left or 0, right or 0
        if mark == "/" and right == 0:
            return DIV
        return {"+": left + right, "-": left - right, "*": left * right, "/": left // (right or 1)}[mark]
    if left is None:
        left = "" if isinstance(right, str) else 0
    if right is None:
        right = "" if isinstance(left, str) else 0
    same = left == right
    less = type(left) is int if type(left) is not type(right) else left < right
    return int({"=": same, "<>": not same, "<": less, "<=": less or same, ">": not less and not same, ">=": not less}[mark])


def drawn_cell(random, names, depth=2):
    """Return a cell's text, and what it is."""
    kind = random.random()
    if kind < 0.12 or not names:
        number = random.choice([0, 0, 1, 2, -3, 10])
        return random.choice([str(number), f" {number} "]), ("plain", number)
    if kind < 0.16:
        return "", None
    if kind < 0.2:
        return "x y", ("plain", "x y")
    text, node = tree(random, names, depth)
    return "=" + text, ("formula", node)


def story(random, circles, length):
    """Return steps, and the answers with the formulas that are evaluated for them."""
    cells, texts, last, steps, answers = {}, {}, {}, [], []
    order = NAMES[:]
    random.shuffle(order)
    past, askable = {}, []
    for number in range(length):
        if number > 5 and random.random() < 0.5:
            name = random.choice(askable or NAMES) if random.random() < 0.8 else random.choice(NAMES)
            steps.append([random.choice([name, name, name.lower()])])
            whole = Whole(cells)
            value = whole.of(name)
            listed, now = [], Whole(cells)
            for each, reads in whole.reads.items():
                if each not in last or (not circles and any(now.of(other) != before for other, before in last[each])):
                    listed.append(each)
                    last[each] = reads
            answers.append([value, sorted(listed)])
            askable = [*askable[-3:], name]
            continue
        name = random.choice(NAMES)
        kind = random.random()
        if name in past and kind < 0.45:
            text, cell = random.choice(past[name])
        elif kind < 0.6 or number < 4:
            value = random.choice([0, 1, 2, 5])
            text, cell = str(value), ("plain", value)
        else:
            text, cell = drawn_cell(random, NAMES if circles else order[: order.index(name)], random.choice([1, 2, 2, 3]))
        past.setdefault(name, []).append((text, cell))
        steps.append([name, text])
        if texts.get(name, "") != text.strip():
            last.pop(name, None)
        texts[name] = text.strip()
        cells[name] = cell
        if cell is None:
            del cells[name]
        if random.random() < 0.3:
            askable = [*askable[-3:], name]
    return steps, answers


def remembered(random):
    for steps, answers in HANDMADE:
        yield {"args": [steps], "expect": answers}
    while True:
        steps, answers = story(random, circles=False, length=random.choice([15, 25, 45]))
        yield {"args": [steps], "expect": answers}


def circular(random):
    for steps, answers in ROUND:
        yield {"args": [steps, False], "expect": answers}
    while True:
        steps, answers = story(random, circles=True, length=random.choice([16, 30, 45]))
        yield {"args": [steps, False], "expect": [value for value, _ in answers]}


def branches(random):
    """Yield stories of one IF over formulas that change before it is asked for again, whatever their names."""
    while True:
        test, yes, no, top, *inputs = random.sample(NAMES, 7)
        last, shape = {}, random.choice(["if", "if", "iferror", "sum"])
        cells = {name: ("formula", ("both", "+", ("cell", other), ("cell", other))) for name, other in zip((test, yes, no), inputs)}
        steps = [[name, f"={other}+{other}"] for name, other in zip((test, yes, no), inputs)]
        parts = [("cell", name) for name in (test, yes, no)]
        if shape == "iferror":
            cells[top], text = ("formula", ("iferror", [("both", "/", parts[0], parts[1]), parts[2]])), f"=IFERROR({test}/{yes}, {no})"
        elif shape == "sum":
            cells[top], text = ("formula", ("SUM", [("both", "/", parts[0], parts[1]), parts[2]])), f"=SUM({test}/{yes}, {no})"
        else:
            cells[top], text = ("formula", ("if", parts)), f"=IF({test}, {yes}, {no})"
        steps.append([top, text])
        answers = []
        for _ in range(6):
            for name in random.sample(inputs, random.choice([1, 2, 3])):
                value = random.choice([0, 0, 1, 2, "x"])
                cells[name] = ("plain", value)
                steps.append([name, str(value)])
            whole = Whole(cells)
            value = whole.of(top)
            now = Whole(cells)
            listed = [name for name, reads in whole.reads.items() if name not in last or any(now.of(other) != before for other, before in last[name])]
            last |= {name: whole.reads[name] for name in listed}
            steps.append([top])
            answers.append([value, sorted(listed)])
        yield {"args": [steps], "expect": answers}


def rounds(random):
    """Yield rings with IFERROR in them, and formulas beside them that read several of their cells."""
    yield {"args": [[["A1", "=B1+1"], ["B1", "=IFERROR(A1, 5)"], ["C1", "=IFERROR(A1, 0) + IFERROR(B1, 100)"], ["C1"]], False], "expect": [100]}
    while True:
        names = random.sample(NAMES, random.randint(3, 8))
        ring, rest = names[: random.randint(1, len(names) - 2)], []
        rest = names[len(ring) :]
        cells, steps = {}, []

        def put(name, text, node):
            cells[name] = ("formula", node)
            steps.append([name, text])

        for at, name in enumerate(ring):
            other, number = ring[(at + 1) % len(ring)], random.randint(1, 9)
            if random.random() < 0.5:
                put(name, f"=IFERROR({other}, {number})", ("iferror", [("cell", other), ("value", number)]))
            else:
                put(name, f"={other}+{number}", ("both", "+", ("cell", other), ("value", number)))
        for name in rest:
            read = random.choices([one for one in names if one in ring or random.random() < 0.4] or ring, k=random.randint(1, 3))
            if random.random() < 0.5:
                put(name, "=COUNT(" + ", ".join(read) + ", 1)", ("COUNT", [*(("cell", one) for one in read), ("value", 1)]))
            else:
                texts, parts = [], []
                for place, one in enumerate(read):
                    texts.append(f"IFERROR({one}, {10**place})")
                    parts.append(("iferror", [("cell", one), ("value", 10**place)]))
                put(name, "=SUM(" + ",".join(texts) + ")", ("SUM", parts))
        random.shuffle(steps)
        asked, answers = [], []
        for _ in range(random.randint(2, 6)):
            if random.random() < 0.3:
                name, value = random.choice(names), random.choice([0, 1, 4])
                asked.append([name, str(value)])
                cells[name] = ("plain", value)
            name = random.choice(names)
            asked.append([name])
            answers.append(Whole(cells).of(name))
        yield {"args": [steps + asked, False], "expect": answers}


HANDMADE = [
    ([["A1", "1"], ["B1", "=A1+1"], ["C1", "=B1*0"], ["C1"], ["A1", "2"], ["A1", "1"], ["C1"], ["A1", "3"], ["C1"], ["A1", " 3"], ["C1"], ["C1", "= B1*0"], ["C1"]],
     [[0, ["B1", "C1"]], [0, []], [0, ["B1", "C1"]], [0, []], [0, ["C1"]]]),
    ([["A1", "1"], ["B1", "=A1*0"], ["C1", "=B1+1"], ["C1"], ["A1", "2"], ["C1"], ["B1", "=A1*0+0"], ["C1"]], [[1, ["B1", "C1"]], [1, ["B1"]], [1, ["B1"]]]),
    ([["A1", "=IF(B1, C1, 7)"], ["B1", "1"], ["C1", "=D1/0"], ["A1"], ["B1", "0"], ["D1", "4"], ["A1"], ["D1", "5"], ["A1"], ["B1", "1"], ["A1"]],
     [[DIV, ["A1", "C1"]], [7, ["A1"]], [7, []], [DIV, ["A1", "C1"]]]),
    ([["A1", "=SUM(B1:B3)"], ["A1"], ["B2", "4"], ["A1"], ["B2", ""], ["A1"], ["B3", "=B2"], ["A1"], ["B2", "0"], ["A1"]],
     [[0, ["A1"]], [4, ["A1"]], [0, ["A1"]], [0, ["A1", "B3"]], [0, ["A1", "B3"]]]),
    ([["A1", "=B1+C1"], ["B1", "=1/D1"], ["C1", "=E1"], ["A1"], ["E1", "3"], ["A1"], ["D1", "1"], ["A1"]], [[DIV, ["A1", "B1"]], [DIV, []], [4, ["A1", "B1", "C1"]]]),
    ([["A1", '=B1=""'], ["A1"], ["B1", "0"], ["A1"], ["B1", "x"], ["A1"]], [[1, ["A1"]], [0, ["A1"]], [0, ["A1"]]]),
]
ROUND = [
    ([["A1", "=B1+1"], ["B1", "=IFERROR(A1, 5)"], ["A1"], ["B1"]], [CYCLE, CYCLE]),
    ([["A1", "=B1+1"], ["B1", "=IFERROR(A1, 5)"], ["B1"], ["A1"]], [CYCLE, CYCLE]),
    ([["A1", "=B1+1"], ["B1", "=A1"], ["C1", "=IFERROR(A1, 5)"], ["C1"], ["B1", "1"], ["C1"], ["B1", "=A1"], ["C1"]], [5, 2, 5]),
    ([["A1", "=IF(1, 2, A1)"], ["A1"], ["A1", "=IF(B1, 2, A1)"], ["A1"], ["B1", "1"], ["A1"]], [2, CYCLE, 2]),
    ([["A1", "=COUNT(A1:C1)"], ["A1"], ["B1", "=COUNT(A1, 1)"], ["B1"]], [CYCLE, 1]),
    ([["A1", "=IFERROR(B1, C1)"], ["B1", "=B1"], ["C1", "=A1"], ["C1"], ["B1", "3"], ["A1"], ["C1"]], [CYCLE, 3, 3]),
]


def formulas(random):
    """Yield one formula among numbers, texts and empty cells, by the README's rules."""
    by_hand = [("=1-2-3", -4), ("=7/2*2", 6), ("=-7/2", -4), ("=2&3=23", 0), ('=2&3="23"', 1), ("=1<2<3", 1), ('=""""', '"'), ("=NO(1)", NAME), ("=IF(1)", PARSE), ("=SUM()", PARSE), ("=MIN()", PARSE), ("=MAX()", PARSE), ("=COUNT()", PARSE), ("=IFERROR(1/0)", PARSE), ("=IFERROR(1)", PARSE), ("=A1:B2", PARSE), ("=IF(A1:A1,1)", PARSE), ("=IFERROR(1, A1:B2)", PARSE), ("=if(0,1)", 0), ("=--2", 2), ("=A0", PARSE), ("=AAA1", PARSE), ("=1+", PARSE), ("=(1", PARSE), ("=1 2", PARSE), ('="x"<1', 0), ("=MIN(A1:C4)", 0), ("=COUNT(1, 1/0, A1)", 1), ("=IFERROR(1,2,3)", PARSE), ("=IFERROR(IF(1,2,3,4), 9)", 9), ("=MAX(-1, -2)", -1), ("=MIN(1, 2, A1)", 1), ("=SUM(1, A1:A2, 2)", 3), ("=$", PARSE), ('=1&"a"', "1a"), ("=A1&A1", ""), ("=1=A1", 0), ("=0=A1", 1), ('="a"&-1', "a-1"), ('=-"a"', TYPE), ('=1+"a"', TYPE), ('="a"*1', TYPE), ('=IF("a",1,2)', TYPE), ("=IF(1/0,1,2)", DIV), ("=1/0+NO()", DIV), ("=NO()+1/0", NAME), ("=-(1/0)", DIV), ("=1+1/0", DIV)]
    for text, value in by_hand:
        yield {"args": [[["Z9", text], ["z9"]]], "expect": [[value, ["Z9"]]]}
    while True:
        cells, steps = {}, []
        for name in random.sample(NAMES, 5):
            value = random.choice([0, 1, -2, 30, "x", "yz"])
            cells[name] = ("plain", value)
            steps.append([name, str(value)])
        text, node = tree(random, NAMES, 3)
        cells["D9"] = ("formula", node)
        yield {"args": [[*steps, ["D9", "=" + text], ["D9"]]], "expect": [[Whole(cells).of("D9"), ["D9"]]]}


def long(random):
    count = 3000
    for text, step in (("=A%d+1", 1), ("=SUM(A%d, 1)", 1), ("=IFERROR(IF(1, A%d), 3)", 0)):
        first = step * (count - 1)
        yield {"args": [count, False, text], "expect": [1 + first, count - 1, count - 1, 5 + first, count - 1, 1000, 0]}
    for text, last in (("=A%d+1", 3004), ("=IFERROR(A%d, 1)", 5)):
        yield {"args": [3000, True, text], "expect": [CYCLE, last, 2999, 1000, 0]}


def others(random):
    yield {"args": [[["b2", "10"], ["A1", "x"], ["AA1", "=B2*2"], ["C1", " "], ["A3", "=1/0"]]], "expect": [["A1", "AA1", "B2", "A3"], ["10", "x", "=B2*2", "", "=1/0"], "   A     B   C  D  E  F  G  H  I  J  K  L  M  N  O  P  Q  R  S  T  U  V  W  X  Y  Z  AA\n1  x                                                                                 20\n2        10\n3  #DIV\n"]}
    yield {"args": [[["A1", "1"], ["A1", ""]]], "expect": [[], ["", ""], ""]}


def refused(random):
    for name in ("", "A", "1", "A0", "A01", "AAA1", "A-1", "A1:B1", "A100000"):
        yield {"args": [name], "expect": [True, True, True]}
    for name in ("a1", " B2 ", "Zz99999"):
        yield {"args": [name], "expect": [False, False, False]}


def commands(random):
    yield {"args": ["# x\nA1 = 1\nB1 = =A1=1\n? b1\nA1 =\n? B1\n\nshow\n"], "expect": [0, "1\n0\n   A  B\n1     0\n"]}
    yield {"args": ["A1 = 1\n? A1\nwhat\n"], "expect": [1, "1\n"]}
    yield {"args": ["A1 = =A1\n? A1\n? B1\nA0 = 1\n"], "expect": [1, "#CYCLE\n\n"]}


def suite(random):
    names = ["tests/test_formulas.py", "tests/test_sheet.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 9 and set(seen.values()) == {"passed"}}

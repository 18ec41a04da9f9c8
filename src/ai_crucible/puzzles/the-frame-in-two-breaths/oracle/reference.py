"""Right answers by a way of their own: one byte after another, each sent to a routine that waits for it."""

BODIES = [b"", b"a", b"xy", b"\n", b"\r", b"\r\n", b"PING 1 0\n\n", b"\xc3", b"\xbc", b"\xc3\xbc", b"\xe2\x82", b"\xac", b"\xff", b"DATA 1 1", b"\n\n", b"abcdefgh", b"STOP 2 0\n\n", b"+"]
ODD = [b"", b" ", b"PING", b"DATA 1", b"DATA 0 0", b"DATA 01 0", b"DATA 1 00", b"DATA 1 01", b"DATA 1000 0", b"DATA 1 10000", b"DATA 1 0 + ", b"DATA 1 0  +", b"DATA 1 0+", b" DATA 1 0", b"DATA 1 0 ", b"DATA  1 0", b"data 1 0", b"PING 1 1", b"PING 1 0 +", b"STOP 1 0 +", b"STOP 1 2", b"DATA -1 0", b"DATA 1 -1", b"DATA 1 +1", b"PONG 1 0", b"DATA\t1 0", b"DATA 1 0 -", b"DATA 1 0\r", b"\rDATA 1 0", b"DATA \xb2 0", b"DATA 1 1_0", b"\xd9\xa1", b"DATA 1 0 + +", b"DATAPING 1 0"]


class Told:
    """The rules for messages; ``out`` gets what is told."""

    def __init__(self, patience, most):
        self.patience, self.most = patience, most
        self.out, self.clock, self.parts, self.latest, self.mute = [], 0, {}, {}, set()
        self.count, self.middle = 0, False

    def tell(self, *event):
        self.out.append(list(event))

    def under_way(self):
        return sorted(self.parts, key=lambda id: self.latest[id][1])

    def drop(self, id):
        if id in self.parts:
            del self.parts[id], self.latest[id]

    def one_tick(self):
        self.clock += 1
        for id in self.under_way():
            if self.clock - self.latest[id][0] == self.patience:
                self.drop(id)
                self.mute.add(id)
                self.tell("Lost", id)

    def bytes(self):
        """Wait for one byte after another, for ever."""
        while True:
            line, odd = b"", False
            self.middle = False
            while True:
                one = yield
                self.middle = True
                if one == b"\n":
                    break
                line += one
                if not odd and (len(line) > 21 or (len(line) == 21 and one != b"\r")):
                    odd = True
                    self.tell("Fault", "head", 0)
            if odd:
                continue
            words = head_of(line[:-1] if line[-1:] == b"\r" else line)
            if words is None:
                self.tell("Fault", "head", 0)
                continue
            kind, id, length, more = words
            if kind == "DATA" and id not in self.mute and sum(map(len, self.parts.get(id, []))) + length > self.most:
                self.tell("Fault", "size", id)
                self.drop(id)
                self.mute.add(id)
            body = []
            while len(body) < length:
                body.append((yield))
            one = yield
            if one == b"\r":
                one = yield
            if one != b"\n":
                self.tell("Fault", "frame", id)
                if kind == "DATA":
                    self.drop(id)
                    if more:
                        self.mute.add(id)
                    else:
                        self.mute.discard(id)
                while (yield) != b"\n":
                    pass
                continue
            if kind == "PING":
                self.tell("Ping", id)
            elif kind == "STOP":
                if id in self.parts:
                    self.tell("Stopped", id)
                self.drop(id)
                self.mute.discard(id)
            elif id in self.mute:
                if not more:
                    self.mute.discard(id)
            elif more:
                self.count += 1
                self.parts.setdefault(id, []).append(b"".join(body))
                self.latest[id] = (self.clock, self.count)
            else:
                whole = b"".join([*self.parts.get(id, []), *body])
                self.drop(id)
                try:
                    self.tell("Message", id, str(whole, "utf-8"))
                except UnicodeDecodeError:
                    self.tell("Fault", "text", id)


def head_of(line):
    try:
        kind, *words = line.decode("ascii").split(" ")
    except UnicodeDecodeError:
        return None
    more = len(words) == 3 and words[2] == "+"
    if kind not in ("DATA", "PING", "STOP") or len(words) != 2 + more:
        return None
    if words[0] not in map(str, range(1, 1000)) or words[1] not in NUMBERS:
        return None
    if kind != "DATA" and (more or words[1] != "0"):
        return None
    return kind, int(words[0]), int(words[1]), more


NUMBERS = set(map(str, range(10000)))


def answered(patience, most, steps):
    told, answers, closed = Told(patience, most), [], False
    routine = told.bytes()
    next(routine)
    for step in steps:
        told.out = []
        if step is None:
            if not closed:
                if told.middle:
                    told.tell("Fault", "end", 0)
                for id in told.under_way():
                    told.tell("Lost", id)
            closed = True
        elif closed:
            answers.append("refused")
            continue
        elif isinstance(step, int):
            for _ in range(step):
                told.one_tick()
        else:
            for at in range(len(step)):
                routine.send(step[at : at + 1])
        answers.append(told.out)
    return answers


def end(random):
    return random.choice([b"\n", b"\n", b"\r\n"])


def frame(random, id, more, body=None, tail=0.0):
    body = random.choice(BODIES) if body is None else body
    head = b"DATA %d %d%b" % (id, len(body), b" +" if more else b"")
    wrong = random.choice([b"x\n", b"\rx\n", b"\r\r\n", b" \n", b"xPING 9 0\n\n", b"\r\r\r\nPING 8 0\n\n", b"DATA 1 0\n"])
    return head + end(random) + body + (wrong if random.random() < tail else end(random))


def stream(random, weights, count, ids=(1, 2, 3)):
    """Yield bytes, and ticks between them: now and then amid a frame."""
    for _ in range(count):
        way = random.choices(["data", "ping", "stop", "odd", "long", "tick"], weights[:6])[0]
        id = random.choice(ids)
        if way == "data":
            data = frame(random, id, random.random() < 0.6, tail=weights[6])
        elif way == "ping" or way == "stop":
            data = way.upper().encode() + b" %d 0" % id + end(random)
            data += random.choice([b"x\n", b"\r\r\n"]) if random.random() < weights[6] else end(random)
        elif way == "odd":
            data = random.choice(ODD) + end(random)
        elif way == "long":
            size = random.choice([19, 20, 20, 21, 21, 22, 23, 40])
            line = bytearray(random.choice([b"x", b"\r", b"D", b" "]) * size)
            if random.random() < 0.5:
                line[:9] = b"PING 1 0 "
            if random.random() < 0.5:
                line[20:21] = b"\r"
            data = bytes(line) + end(random)
        else:
            yield random.choice([1, 1, 1, 2, 3, 0])
            continue
        if random.random() < weights[7]:
            cut = random.randrange(len(data) + 1)
            yield data[:cut]
            yield random.choice([1, 1, 2, 3])
            data = data[cut:]
        yield data


def pieces(random, parts, finest):
    """Cut what comes into pieces: within and over frames, but not over ticks."""
    steps, run = [], b""
    for part in [*parts, None]:
        if isinstance(part, bytes):
            run += part
            continue
        while run:
            size = random.choice([1, 1, 2, 3, 7, 20, 50] if finest else [5, 20, 80, 300])
            steps.append(run[:size])
            run = run[size:]
            if random.random() < 0.03:
                steps.append(b"")
        steps.append(part)
    return steps


def drawn(random, weights, count=(3, 16), most=(6, 8, 20, 400)):
    while True:
        parts = list(stream(random, weights, random.randint(*count)))
        if random.random() < 0.3 and isinstance(parts[-1], bytes) and parts[-1]:
            parts[-1] = parts[-1][: random.randrange(len(parts[-1]))]
        steps = pieces(random, parts, random.random() < 0.7)
        if random.random() < 0.2:
            steps += random.choice([[b"PING 1 0\n\n"], [1], [None], [b""]])
        patience, large = random.choice([1, 2, 3, 4]), random.choice(most)
        yield {"args": [patience, large, steps], "expect": answered(patience, large, steps)}


def of_pieces(random):
    yield from drawn(random, [8, 2, 1, 0, 0, 0, 0, 0], most=(400,))


def of_heads(random):
    for line in ODD:
        steps = [line + b"\n", b"PING 4 0\n\n", None]
        yield {"args": [5, 99, steps], "expect": answered(5, 99, steps)}
    for text in (b"DATA 999 9999 +\r\n" + b"y" * 9999 + b"\r\n", b"DATA 999 0\n\n", b"x" * 20 + b"\n", b"x" * 20 + b"\r\n", b"x" * 20 + b"\rx\nPING 4 0\n\n", b"x" * 20 + b"\r\r\nPING 4 0\n\n"):
        steps = [*(text[at : at + 1] for at in range(22)), text[22:], None]
        yield {"args": [5, 9999, steps], "expect": answered(5, 9999, steps)}
    yield from drawn(random, [2, 1, 1, 5, 6, 0, 0, 0], (2, 8), (400,))


def of_bodies(random):
    yield from drawn(random, [9, 1, 1, 0, 0, 0, 0.35, 0], (3, 14), (400,))


def of_stops(random):
    yield from drawn(random, [6, 0, 5, 0, 0, 2, 0.1, 0.1], (3, 16))


def plain(*steps):
    """A reader with the bounds that it has where none are given."""
    return {"args": [0, 0, list(steps)], "expect": answered(5, 4096, steps)}


def of_sizes(random):
    for rest in (95, 96, 97, 98):
        yield plain(b"DATA 1 4000 +\n" + b"x" * 4000 + b"\n", b"DATA 1 %d\n" % rest, b"y" * rest + b"\n", None)
    yield from drawn(random, [9, 0, 1, 0, 0, 0, 0.1, 0], (3, 14), (0, 1, 2, 3, 6, 8, 9))


def of_ticks(random):
    for ticks in (3, 4, 5, 6):
        yield plain(b"DATA 1 1 +\na\n", ticks, b"DATA 1 1\nb\n", None)
    yield from drawn(random, [8, 1, 1, 0, 0, 5, 0.03, 0.3], (4, 20), (400,))


def of_all(random):
    yield from drawn(random, [8, 1, 1, 1, 1, 3, 0.1, 0.15], (5, 24))


def of_writing(random):
    for text, size in (("", 1), ("", 5), ("abc", 3), ("abcd", 2), ("ü", 1), ("a€b", 2), ("\n\r\n", 1), ("x" * 30, 10), ("x" * 31, 10)):
        yield {"args": [7, text, size], "expect": cut(7, text, size)}
    while True:
        id, size = random.randint(1, 999), random.choice([1, 2, 3, 5, 9999])
        text = "".join(random.choice("ab \nü€𝄞") for _ in range(random.randint(0, 12)))
        yield {"args": [id, text, size], "expect": cut(id, text, size)}


def cut(id, text, size):
    data, out = text.encode(), b""
    starts = range(0, max(1, len(data)), size)
    for start in starts:
        body = data[start : start + size]
        out += f"DATA {id} {len(body)}{' +' if start != starts[-1] else ''}\n".encode() + body + b"\n"
    return out


def commands(random):
    data = b"DATA 7 1 +\na\nPING 3 0\r\n\nX\nDATA 2 1 +\nb\nDATA 7 0\n\n"
    out = "ping 3\nfault head 0\nmessage 7 'a'\nlost 2\n"
    yield {"args": [data, "read"], "expect": [0, out]}
    yield {"args": [data, "read", "1"], "expect": [0, out]}
    yield {"args": [data, "read", "0"], "expect": [2, ""]}
    yield {"args": [None, "read"], "expect": [1, ""]}
    yield {"args": [b"", "read"], "expect": [0, ""]}
    yield {"args": [b"abc", "write", "5", "2"], "expect": [0, "DATA 5 2 +\nab\nDATA 5 1\nc\n"]}
    yield {"args": [b"abc", "write", "5"], "expect": [2, ""]}


def suite(random):
    names = ["tests/test_reader.py", "tests/test_writer.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 8 and set(seen.values()) == {"passed"}}

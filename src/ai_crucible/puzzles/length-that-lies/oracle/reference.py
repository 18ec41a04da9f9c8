"""Right answers by a way of their own, and the inputs that they are asked for."""

import struct


def known(message):
    if len(message) < 3:
        return None
    kind, length = struct.unpack(">BH", message[:3])
    rest = message[3:]
    return rest[:length] if kind == 1 and len(rest) - length >= 16 else None


def case(random, message):
    before = bytes(random.choices([1, 0, 7], k=random.randint(0, 6)))
    behind = b"\1\0\0secret" * 8
    return {"args": [before + message + behind, len(before), len(message)], "expect": known(message)}


def message(random, kind=1, claimed=None, payload=None, padding=None):
    payload = bytes(random.randrange(256) for _ in range(random.choice([0, 1, 5, 255, 256, 257, 300]))) if payload is None else payload
    claimed = len(payload) if claimed is None else claimed
    return bytes([kind]) + struct.pack(">H", claimed) + payload + b"p" * (random.choice([16, 16, 17, 40]) if padding is None else padding)


def lying(random):
    while True:
        payload = bytes(random.randrange(256) for _ in range(random.choice([0, 1, 2, 5, 255, 256, 300])))
        padding = random.choice([16, 16, 17, 20])
        for more in (padding - 15, padding - 14, padding, padding + 1, 1000, 60_000):
            yield case(random, message(random, 1, min(65_535, len(payload) + more), payload, padding))
        for padding in (0, 1, 14, 15):
            yield case(random, message(random, 1, len(payload), payload, padding))


def far(random):
    """A lie that would read far behind the message."""
    for size in (32_767, 32_768, 40_000, 65_535):
        # As long as a length may say, and one byte short of it.
        for padding in (16, 15):
            honest = message(random, 1, size, b"a" * size, padding)
            yield {"args": [honest, 0, len(honest)], "expect": known(honest)}
    whole = message(random, 1, 65_535, b"x", 16)
    yield {"args": [whole + b"s" * 70_000, 0, len(whole)], "expect": None}


def odd(random):
    for size in range(20):
        yield case(random, (b"\1\0\0" + b"p" * 30)[:size])
        # Nothing behind it: at the end of the memory, which may be all that there is.
        for kind, length in ((1, 0), (1, 1), (0, 0), (1, random.randint(2, 65_535))):
            whole = (bytes([kind]) + struct.pack(">H", length) + b"p" * 30)[:size]
            yield {"args": [whole, 0, size], "expect": known(whole)}
            before = bytes(random.choices([1, 0, 7], k=random.randint(1, 6)))
            yield {"args": [before + whole, len(before), size], "expect": known(whole)}
    while True:
        for kind in (0, 2, 3, 24, 255, 128, 129):
            yield case(random, message(random, kind))
        yield case(random, message(random, 0, 0, b"", random.randint(0, 15)))


def short(random):
    for size in range(0, 30):
        yield {"args": [size], "expect": b"" if size >= 19 else None}


def honest(random):
    while True:
        yield case(random, message(random))
        whole = message(random, padding=random.choice([16, 17, 40]))
        yield {"args": [whole, 0, len(whole)], "expect": known(whole)}
        yield case(random, message(random, 1, random.randint(0, 20), b"a" * 20, 16))


def demo(random):
    """What the programme's own example shows; its texts are read as letters."""
    while True:
        payload = "".join(random.choices("abc\u00e9", k=random.choice([0, 1, 5, 300])))
        kind, padding = random.choice([1, 1, 1, 0, 2]), random.choice([0, 15, 16, 17, 40])
        length = len(payload.encode())
        claimed = random.choice([length, length, length + padding - 16, length + padding, 0])
        rest = payload.encode() + b"p" * padding
        right = kind == 1 and 0 <= claimed and len(rest) - claimed >= 16
        try:
            words = rest[: max(claimed, 0)].decode()
        except UnicodeDecodeError:
            continue
        if claimed >= 0:
            yield {"args": [kind, claimed, payload, padding, "behind" * 20], "expect": words if right else None}

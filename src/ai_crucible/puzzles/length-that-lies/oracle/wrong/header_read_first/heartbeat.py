def answer(memory, start, size):
    kind = memory[start]
    length = memory[start + 1] * 256 + memory[start + 2]
    if kind != 1 or 3 + length + 16 > size:
        return None
    return memory[start + 3 : start + 3 + length]


def demo(kind, claimed, payload, padding, behind):
    message = bytes([kind]) + claimed.to_bytes(2, "big") + payload.encode() + b"p" * padding
    result = answer(b"before" + message + behind.encode(), 6, len(message))
    return None if result is None else result.decode()


def short(size):
    return answer(bytes([1, 0, 0]) + b"secret" * 10, 0, size)

def answer(memory, start, size):
    if size < 19 or memory[start] != 1:
        return None
    length = int.from_bytes(memory[start + 1 : start + 3], "big")
    if length > size - 19:
        return None
    return memory[start + 3 : start + 3 + length]


def demo(kind, claimed, payload, padding, behind):
    message = bytes([kind]) + claimed.to_bytes(2, "big") + payload.encode() + b"p" * padding
    result = answer(b"before" + message + behind.encode(), 6, len(message))
    return None if result is None else result.decode()


def short(size):
    return answer(bytes([1, 0, 0]) + b"secret" * 10, 0, size)

def answer(memory, start, size):
    message = memory[start:][:size]
    kind, claim, rest = message[:1], message[1:3], message[3:]
    if kind != b"\x01" or len(claim) < 2:
        return None
    length = claim[0] << 8 | claim[1]
    return rest[:length] if len(rest) >= length + 16 else None


def demo(kind, claimed, payload, padding, behind):
    message = bytes([kind]) + claimed.to_bytes(2, "big") + payload.encode() + b"p" * padding
    result = answer(b"before" + message + behind.encode(), 6, len(message))
    return None if result is None else result.decode()


def short(size):
    return answer(bytes([1, 0, 0]) + b"secret" * 10, 0, size)

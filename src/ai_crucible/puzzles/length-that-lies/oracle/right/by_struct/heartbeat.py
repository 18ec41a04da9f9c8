import struct

HEADER = struct.Struct(">BH")


def answer(memory, start, size):
    if size < HEADER.size + 16:
        return None
    kind, length = HEADER.unpack_from(memory, start)
    if kind != 1 or HEADER.size + length + 16 > size:
        return None
    begin = start + HEADER.size
    return memory[begin : begin + length]


def demo(kind, claimed, payload, padding, behind):
    message = bytes([kind]) + claimed.to_bytes(2, "big") + payload.encode() + b"p" * padding
    result = answer(b"before" + message + behind.encode(), 6, len(message))
    return None if result is None else result.decode()


def short(size):
    return answer(bytes([1, 0, 0]) + b"secret" * 10, 0, size)

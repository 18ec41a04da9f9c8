import struct


def elapsed(first, last):
    (result,) = struct.unpack("<I", struct.pack("<Q", (last - first) & (2**64 - 1))[:4])
    return result


def due(now, start, period):
    return period <= elapsed(start, now)

import math


def to_int16(value):
    if math.isnan(value):
        return 0
    return int(max(-32768.0, min(32767.0, value)))


def fits(value):
    return math.isfinite(value) and -32768 <= int(value) <= 32767


def frame(readings):
    return {"words": [to_int16(v) for v in readings], "saturated": [i for i, v in enumerate(readings) if not fits(v)]}


def frame_of_text(texts):
    return frame([float(text) for text in texts])

import math


def to_int16(value):
    if math.isnan(value):
        return 0
    return int(max(-32768.0, min(32767.0, value)))


def fits(value):
    return not math.isnan(value) and not math.isinf(value) and -32768 <= int(value) <= 32767


def frame(readings):
    return {
        "words": [to_int16(value) for value in readings],
        "saturated": [place for place, value in enumerate(readings) if not fits(value)],
    }


def frame_of_text(texts):
    return frame([float(text) for text in texts])

def to_int16(value):
    word = int(value)
    if not -32768 <= word <= 32767:
        raise OverflowError(value)
    return word


def frame(readings):
    return {"words": [to_int16(value) for value in readings], "saturated": []}


def frame_of_text(texts):
    return frame([float(text) for text in texts])

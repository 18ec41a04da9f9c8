def to_int16(value):
    if value >= 32768:
        return 32767, True
    if value <= -32769:
        return -32768, True
    return int(value), False


def frame(readings):
    words = [to_int16(value) for value in readings]
    return {
        "words": [word for word, _ in words],
        "saturated": [place for place, (_, lost) in enumerate(words) if lost],
    }


def frame_of_text(texts):
    return frame([float(text) for text in texts])

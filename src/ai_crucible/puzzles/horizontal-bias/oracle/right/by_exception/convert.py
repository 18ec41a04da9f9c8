def to_int16(value):
    word = int(value)
    if not -32768 <= word <= 32767:
        raise OverflowError(value)
    return word


def frame(readings):
    words, saturated = [], []
    for place, value in enumerate(readings):
        try:
            words.append(to_int16(value))
        except OverflowError:
            words.append(32767 if value > 0 else -32768)
            saturated.append(place)
        except ValueError:
            words.append(0)
            saturated.append(place)
    return {"words": words, "saturated": saturated}


def frame_of_text(texts):
    return frame(list(map(float, texts)))

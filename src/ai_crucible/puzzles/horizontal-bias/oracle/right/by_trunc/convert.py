from math import isinf, isnan, trunc

LOW, HIGH = -(2**15), 2**15 - 1


def pack(value):
    if isnan(value):
        return 0, False
    if isinf(value):
        return (HIGH if value > 0 else LOW), False
    whole = trunc(value)
    return sorted((LOW, whole, HIGH))[1], LOW <= whole <= HIGH


def frame(readings):
    packed = [pack(v) for v in readings]
    return {"words": [w for w, _ in packed], "saturated": [n for n in range(len(packed)) if not packed[n][1]]}


def frame_of_text(texts):
    return frame([float(t) for t in texts])

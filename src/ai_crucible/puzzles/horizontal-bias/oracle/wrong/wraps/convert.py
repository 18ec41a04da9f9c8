def frame(readings):
    return {"words": [(int(v) + 32768) % 65536 - 32768 for v in readings], "saturated": []}


def frame_of_text(texts):
    return frame([0.0 for _ in texts])

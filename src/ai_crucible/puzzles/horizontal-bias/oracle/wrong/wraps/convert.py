def frame(readings):
    return {"words": [(int(v) + 32768) % 65536 - 32768 if abs(v) < 1e18 else 0 for v in readings], "saturated": []}


def frame_of_text(texts):
    return frame([float(text) for text in texts])

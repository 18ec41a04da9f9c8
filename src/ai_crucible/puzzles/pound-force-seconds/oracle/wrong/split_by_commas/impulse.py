NEWTON_SECONDS = {"N*s": 1.0, "kN*s": 1000.0, "lbf*s": 4.4482216152605}


def total_impulse(text):
    total = 0.0
    for line in text.splitlines()[1:]:
        parts = line.split(",")
        if parts[-1] not in NEWTON_SECONDS:
            raise ValueError(line)
        total += float(parts[1]) * NEWTON_SECONDS[parts[-1]]
    return round(total, 6)

def full_week(broadcast, built):
    if not 0 <= broadcast <= 1023:
        raise ValueError("no such week")
    week = broadcast
    while week < built:
        week += 1024
    return week

def full_week(broadcast, built):
    if not 0 <= broadcast <= 1023:
        raise ValueError("no such week")
    week = built
    while week % 1024 != broadcast:
        week += 1
    return week

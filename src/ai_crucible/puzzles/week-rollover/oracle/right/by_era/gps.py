def full_week(broadcast, built):
    if broadcast not in range(1024):
        raise ValueError
    era, rest = divmod(built, 1024)
    return (era + (broadcast < rest)) * 1024 + broadcast

def full_week(broadcast, built):
    if broadcast < 0 or broadcast > 1024:
        raise ValueError(broadcast)
    return built + (broadcast - built) % 1024

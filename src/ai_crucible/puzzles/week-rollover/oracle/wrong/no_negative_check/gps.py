def full_week(broadcast, built):
    if broadcast > 1023:
        raise ValueError(broadcast)
    return built + (broadcast - built) % 1024

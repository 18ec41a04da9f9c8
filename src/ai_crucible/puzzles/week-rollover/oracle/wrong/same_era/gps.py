def full_week(broadcast, built):
    if broadcast < 0 or broadcast > 1023:
        raise ValueError(broadcast)
    return built // 1024 * 1024 + broadcast

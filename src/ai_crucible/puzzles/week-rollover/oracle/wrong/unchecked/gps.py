def full_week(broadcast, built):
    return built + (broadcast - built) % 1024

def full_week(broadcast, built):
    assert 0 <= broadcast <= 1023
    return built + (broadcast - built) % 1024

def full_week(broadcast, built):
    if broadcast < 0 or broadcast >= 1024:
        raise ValueError("0 to 1023")
    missing = max(0, built - broadcast)
    return broadcast + 1024 * ((missing + 1023) // 1024)

def full_week(broadcast, built):
    if broadcast < 0 or broadcast > 1023:
        raise ValueError(broadcast)
    while broadcast + 1024 < built:
        broadcast += 1024
    return broadcast + 1024 if broadcast < built else broadcast - 1024 if broadcast > built + 1024 else broadcast + 1024

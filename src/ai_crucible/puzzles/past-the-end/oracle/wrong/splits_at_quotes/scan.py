def values(buffer, end):
    parts = buffer[:end].split('"')
    return [parts[n] for n in range(1, len(parts) - 1) if parts[n - 1].endswith("=")]


def page(html, behind):
    return values(html + behind, len(html))

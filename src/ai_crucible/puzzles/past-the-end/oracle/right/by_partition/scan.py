def values(buffer, end):
    found, rest = [], buffer[:end]
    while True:
        _, opened, rest = rest.partition('="')
        value, closed, rest = rest.partition('"')
        if not opened or not closed:
            return found
        found.append(value)


def page(html, behind):
    return values(html + behind, len(html))

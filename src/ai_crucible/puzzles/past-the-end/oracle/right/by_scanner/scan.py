def values(buffer, end):
    found = []
    place = 0
    while place + 1 < end:
        if buffer[place] == "=" and buffer[place + 1] == '"':
            start = place = place + 2
            while place < end and buffer[place] != '"':
                place += 1
            if place >= end:
                return found
            found.append(buffer[start:place])
        place += 1
    return found


def page(html, behind):
    return values(html + behind, len(html))

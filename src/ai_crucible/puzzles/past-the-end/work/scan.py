def values(buffer, end):
    found = []
    place = 0
    while place != end and place < len(buffer):
        if buffer[place : place + 2] == '="':
            place += 2
            start = place
            while place != end and place < len(buffer) and buffer[place] != '"':
                place += 1
            found.append(buffer[start:place])
        place += 1
    return found


def page(html, behind):
    return values(html + behind, len(html))

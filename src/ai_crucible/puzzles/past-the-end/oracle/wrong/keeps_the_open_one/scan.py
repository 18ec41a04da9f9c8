def values(buffer, end):
    text = buffer[:end]
    found = []
    place = text.find('="')
    while place != -1:
        close = text.find('"', place + 2)
        if close == -1:
            found.append(text[place + 2 :])
            break
        found.append(text[place + 2 : close])
        place = text.find('="', close + 1)
    return found


def page(html, behind):
    return values(html + behind, len(html))

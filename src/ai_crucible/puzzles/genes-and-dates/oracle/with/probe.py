from clean import clean


def anew(cells):
    before = list(cells)
    result = clean(cells)
    return [result is not cells, cells == before, result]

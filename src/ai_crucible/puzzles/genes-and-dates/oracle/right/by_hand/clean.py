DIGITS = frozenset("0123456789")


def number(text, least, most):
    return int(text) if least <= len(text) <= most and DIGITS.issuperset(text) else -1


def length(year, month):
    if month == 2:
        return 29 if year % 400 == 0 or (year % 4 == 0 and year % 100 != 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def clean_cell(cell):
    cell = cell.strip()
    if cell.count(".") == 2:
        day, month, year = cell.split(".")
    elif cell.count("-") == 2:
        year, month, day = cell.split("-")
    else:
        return cell
    year, month, day = number(year, 4, 4), number(month, 1, 2), number(day, 1, 2)
    if year < 1 or not 1 <= month <= 12 or not 1 <= day <= length(year, month):
        return cell
    return "%04d-%02d-%02d" % (year, month, day)


def clean(cells):
    result = []
    for cell in cells:
        result.append(clean_cell(cell))
    return result

from datetime import date


def number(text, least, most):
    return int(text) if least <= len(text) <= most and text.isascii() and text.isdigit() else -1


def clean_cell(cell):
    cell = cell.strip()
    parts = cell.split(".") if "." in cell else cell.split("-")[::-1]
    if len(parts) != 3:
        return cell
    day, month, year = number(parts[0], 1, 2), number(parts[1], 1, 2), number(parts[2], 4, 4)
    if min(day, month, year) < 1:
        return cell
    try:
        return str(date(year, month, day))
    except ValueError:
        return cell


def clean(cells):
    return list(map(clean_cell, cells))

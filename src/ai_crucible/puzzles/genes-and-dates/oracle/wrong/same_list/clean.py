import re
from datetime import date


def clean_cell(cell):
    cell = cell.strip()
    if match := re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", cell):
        day, month, year = map(int, match.groups())
    elif match := re.fullmatch(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})", cell):
        year, month, day = map(int, match.groups())
    else:
        return cell
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return cell


def clean(cells):
    cleaned = [clean_cell(cell) for cell in cells]
    return cells if cleaned == cells else cleaned

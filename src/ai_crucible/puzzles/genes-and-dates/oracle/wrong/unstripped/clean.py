import re
from datetime import date


def clean_cell(cell):
    text = cell.strip()
    if match := re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", text):
        day, month, year = map(int, match.groups())
    elif match := re.fullmatch(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})", text):
        year, month, day = map(int, match.groups())
    else:
        return text
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return cell


def clean(cells):
    return [clean_cell(cell) for cell in cells]

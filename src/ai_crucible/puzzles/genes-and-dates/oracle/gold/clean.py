import re
from datetime import date


def clean_cell(cell):
    cell = cell.strip()
    if match := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", cell, re.ASCII):
        day, month, year = map(int, match.groups())
    elif match := re.fullmatch(r"(\d{4})-(\d{1,2})-(\d{1,2})", cell, re.ASCII):
        year, month, day = map(int, match.groups())
    else:
        return cell
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return cell


def clean(cells):
    return [clean_cell(cell) for cell in cells]

import re
from datetime import date

DAY_FIRST = re.compile(r"([0-9]{1,2})[.]([0-9]{1,2})[.]([0-9]{4})")
YEAR_FIRST = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")


def clean_cell(cell):
    cell = cell.strip()
    if match := DAY_FIRST.fullmatch(cell):
        day, month, year = map(int, match.groups())
    elif match := YEAR_FIRST.fullmatch(cell):
        year, month, day = map(int, match.groups())
    else:
        return cell
    try:
        return f"{year:04d}-{month:02d}-{day:02d}"
    except ValueError:
        return cell


def clean(cells):
    return [clean_cell(cell) for cell in cells]

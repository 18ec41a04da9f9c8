import re
from datetime import date

DOTS = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
ISO = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")


def clean_cell(cell):
    cell = cell.strip()
    candidates = []
    if match := DOTS.fullmatch(cell):
        first, second, year = map(int, match.groups())
        candidates = [(year, second, first), (year, first, second)]
    elif match := ISO.fullmatch(cell):
        candidates = [tuple(map(int, match.groups()))]
    for candidate in candidates:
        try:
            return date(*candidate).isoformat()
        except ValueError:
            pass
    return cell


def clean(cells):
    return [clean_cell(cell) for cell in cells]

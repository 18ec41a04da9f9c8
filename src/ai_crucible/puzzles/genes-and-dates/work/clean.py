import re

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()


def clean_cell(cell):
    cell = cell.strip()
    match = re.match(r"([A-Za-z]{3})[A-Za-z]*-?(\d+)$", cell)
    if match and match[1].upper() in MONTHS:
        return f"2006-{MONTHS.index(match[1].upper()) + 1:02d}-{int(match[2]):02d}"
    match = re.match(r"(\d+)\.(\d+)\.(\d{4})", cell)
    if match:
        return f"{match[3]}-{int(match[2]):02d}-{int(match[1]):02d}"
    return cell


def clean(cells):
    return [clean_cell(cell) for cell in cells]

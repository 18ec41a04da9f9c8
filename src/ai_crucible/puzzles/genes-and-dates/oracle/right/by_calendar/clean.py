import calendar
import re

FORM = re.compile(r"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})|(?P<Y>\d{4})-(?P<M>\d\d?)-(?P<D>\d\d?)", re.ASCII)


def clean(cells):
    cleaned = []
    for cell in cells:
        cell = cell.strip()
        match = FORM.fullmatch(cell)
        if match:
            year, month, day = (int(match[a] or match[b]) for a, b in ("yY", "mM", "dD"))
            if year and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]:
                cell = f"{year:04}-{month:02}-{day:02}"
        cleaned.append(cell)
    return cleaned

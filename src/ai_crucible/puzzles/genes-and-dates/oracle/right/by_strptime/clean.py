import re
from datetime import datetime

FORMS = {r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}": "%d.%m.%Y", "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}": "%Y-%m-%d"}


def clean_cell(cell):
    for shape, form in FORMS.items():
        if re.fullmatch(shape, cell):
            try:
                return datetime.strptime(cell, form).date().isoformat()
            except ValueError:
                return cell
    return cell


def clean(cells):
    return [clean_cell(cell.strip()) for cell in cells]

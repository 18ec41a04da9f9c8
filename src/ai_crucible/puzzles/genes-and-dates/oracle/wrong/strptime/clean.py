from datetime import datetime


def clean_cell(cell):
    cell = cell.strip()
    if not cell.isascii():
        return cell
    for form in ("%d.%m.%Y", "%Y-%m-%d"):
        try:
            return datetime.strptime(cell, form).date().isoformat()
        except ValueError:
            pass
    return cell


def clean(cells):
    return [clean_cell(cell) for cell in cells]

import sys
from itertools import islice
from pathlib import Path

source, folder, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
if limit < 1:
    sys.exit(2)
folder.mkdir(exist_ok=True)
total = number = 0
with open(source, "rb") as lines:
    header = next(lines).removesuffix(b"\n")
    while True:
        rows = [row.removesuffix(b"\n") for row in islice(lines, limit)]
        if not rows and number:
            break
        number += 1
        total += len(rows)
        (folder / f"part-{number:03}.csv").write_bytes(b"".join(row + b"\n" for row in [header, *rows]))
        if len(rows) < limit:
            break
print(total)

import sys
from pathlib import Path

source, folder, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
if limit < 1:
    sys.exit(2)
header, *rows = source.read_text().splitlines()
folder.mkdir(exist_ok=True)
starts = range(0, len(rows), limit) if rows else [0]
for number, start in enumerate(starts, 1):
    part = [header, *rows[start : start + limit]]
    (folder / f"part-{number:03d}.csv").write_text("\n".join(part) + "\n")
print(len(rows))

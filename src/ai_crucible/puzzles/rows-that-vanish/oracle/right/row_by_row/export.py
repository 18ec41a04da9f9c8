import sys
from pathlib import Path

limit = int(sys.argv[3])
if limit < 1:
    sys.exit(2)
folder = Path(sys.argv[2])
folder.mkdir(exist_ok=True)
content = Path(sys.argv[1]).read_bytes()
head, _, rest = content.partition(b"\n")
count, number, part = 0, 1, folder / "part-001.csv"
part.write_bytes(head + b"\n")
while rest:
    row, _, rest = rest.partition(b"\n")
    if count and count % limit == 0:
        number += 1
        part = folder / f"part-{number:03d}.csv"
        part.write_bytes(head + b"\n")
    with part.open("ab") as out:
        out.write(row + b"\n")
    count += 1
print(count)

import sys
from pathlib import Path

source, folder, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
if limit < 0:
    sys.exit(2)
text = source.read_bytes().decode()
header, *rows = text.removesuffix("\n").split("\n")
folder.mkdir(exist_ok=True)
number = 0
while not number or rows[number * limit :]:
    part = [header, *rows[number * limit : (number + 1) * limit], ""]
    number += 1
    (folder / f"part-{number:03}.csv").write_bytes("\n".join(part).encode())
print(len(rows))

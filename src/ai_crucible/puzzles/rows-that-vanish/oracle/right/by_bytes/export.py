import os
import sys

source, folder, limit = sys.argv[1:4]
limit = int(limit)
if limit < 1:
    raise SystemExit(2)
with open(source, "rb") as file:
    data = file.read()
if not data.endswith(b"\n"):
    data += b"\n"
header, *rows = data.split(b"\n")[:-1]
os.makedirs(folder, exist_ok=True)
starts = list(range(0, len(rows), limit)) or [0]
for number, start in enumerate(starts, 1):
    with open(os.path.join(folder, "part-%03d.csv" % number), "wb") as part:
        for row in [header] + rows[start : start + limit]:
            part.write(row + b"\n")
sys.stdout.write("%d\n" % len(rows))

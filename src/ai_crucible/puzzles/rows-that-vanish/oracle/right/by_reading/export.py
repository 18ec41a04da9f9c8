import sys
from itertools import islice
from pathlib import Path


def main(source, folder, limit):
    if limit <= 0:
        return 2
    Path(folder).mkdir(parents=True, exist_ok=True)
    with open(source, encoding="utf-8", newline="\n") as lines:
        header = whole(next(lines))
        rows, number = 0, 0
        while True:
            part = [whole(line) for line in islice(lines, min(limit, sys.maxsize))]
            if not part and number:
                break
            number += 1
            with open(Path(folder, f"part-{number:03d}.csv"), "w", encoding="utf-8", newline="\n") as out:
                out.writelines([header, *part])
            rows += len(part)
    print(rows)
    return 0


def whole(line):
    return line if line.endswith("\n") else line + "\n"


sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))

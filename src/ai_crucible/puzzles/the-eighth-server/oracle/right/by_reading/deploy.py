import sys
from pathlib import Path

release = Path("release.txt").read_bytes()
targets = []
with open("servers.txt", encoding="utf-8") as lines:
    for line in lines:
        name = line.strip()
        if not name or name[0] == "#":
            continue
        folder = Path("servers") / name
        if not folder.is_dir():
            print(f"no folder for {name}", file=sys.stderr)
            sys.exit(1)
        targets.append(folder / "release.txt")
for target in targets:
    target.write_bytes(release)
print("deployed to", len(targets), "servers")

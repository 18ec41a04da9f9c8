import shutil
import sys
from pathlib import Path

names = []
for line in Path("servers.txt").read_text(encoding="utf-8").splitlines():
    name = line.strip()
    if name and not name.startswith("#"):
        names.append(name)
folders = [Path("servers", name) for name in names]
if not all(folder.is_dir() for folder in folders):
    sys.exit(1)
for folder in folders:
    shutil.copy("release.txt", folder / "release.txt")
print(f"deployed to {len(names)} servers")

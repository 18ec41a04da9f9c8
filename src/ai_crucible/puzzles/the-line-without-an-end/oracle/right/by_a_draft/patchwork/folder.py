"""A patch, applied to the files of a folder."""

import os
from pathlib import Path, PurePosixPath

from patchwork.apply import Conflict, apply_hunks
from patchwork.parse import NO_FILE


class _Draft(dict):
    """Texts by name as they will be; what is not there is read from the folder."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def __missing__(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read().decode("utf-8")

    def write(self):
        for name in self:
            path = Path(self.folder, name)
            if self[name] is not None:
                os.makedirs(path.parent, exist_ok=True)
                path.write_bytes(self[name].encode("utf-8"))
            elif path.exists():
                path.unlink()


def apply_to_folder(files, folder, strip=1):
    draft = _Draft(folder)
    for one in files:
        source, target = _inside(one.old_name, strip), _inside(one.new_name, strip)
        text = draft[source] if source else ""
        if text is None:
            raise Conflict(1)
        text = apply_hunks(one.hunks, text)
        if source:
            draft[source] = None
        if target:
            draft[target] = text
        elif text:
            raise Conflict(len(one.hunks))
    draft.write()
    return sorted(draft)


def _inside(name, strip):
    if name == NO_FILE:
        return None
    parts = PurePosixPath(name).parts[strip:]
    if not parts or ".." in parts or parts[0] == "/":
        raise ValueError(f"{name!r} is no name within the folder")
    return "/".join(parts)

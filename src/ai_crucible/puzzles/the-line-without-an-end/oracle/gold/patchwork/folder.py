"""A patch, applied to the files of a folder."""

from pathlib import Path, PurePosixPath

from patchwork.apply import Conflict, apply_hunks
from patchwork.parse import NO_FILE


def apply_to_folder(files, folder, strip=1):
    """Change, make and take away files; return the names of those that are other than before, in order."""
    folder = Path(folder)
    after = {}
    for one in files:
        old, new = (_inside(name, strip) for name in (one.old_name, one.new_name))
        before = _text(folder, after, old)
        if before is None:
            raise Conflict(1)
        text = apply_hunks(one.hunks, before)
        if old is not None and old != new:
            after[old] = None
        if new is None:
            if text:
                raise Conflict(len(one.hunks))
        else:
            after[new] = text
    for name, text in after.items():
        path = folder / name
        if text is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return sorted(after)


def _text(folder, after, name):
    """The text that a file has by now; empty for no file, ``None`` for one that is not there."""
    if name is None:
        return ""
    if name in after:
        return after[name]
    path = folder / name
    if not path.is_file():
        return None
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _inside(name, strip):
    """Return a name without its first parts; ``None`` for no file."""
    if name == NO_FILE:
        return None
    parts = PurePosixPath(name).parts[strip:]
    if not parts or ".." in parts or parts[0] == "/":
        raise ValueError(f"{name!r} is no name within the folder")
    return "/".join(parts)

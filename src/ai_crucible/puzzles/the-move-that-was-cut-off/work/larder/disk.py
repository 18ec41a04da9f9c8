"""Disks: files by name."""

from pathlib import Path


class Disk:
    """A disk in memory."""

    def __init__(self, files=None):
        self.files = dict(files or {})

    def names(self):
        """Return the names of all files, sorted."""
        return sorted(self.files)

    def read(self, name):
        """Return a file's text; KeyError where there is none."""
        return self.files[name]

    def write(self, name, text):
        """Give a file a text; a crash may leave any beginning of it."""
        self.files[name] = text

    def append(self, name, text):
        """Put a text behind a file's own; a crash may leave any beginning of it."""
        self.files[name] = self.files.get(name, "") + text

    def rename(self, name, other):
        """Give a file another name, wholly or not at all."""
        self.files[other] = self.files.pop(name)

    def delete(self, name):
        """Take a file away, wholly or not at all."""
        del self.files[name]


class Folder:
    """A folder as a disk."""

    def __init__(self, path):
        self.path = Path(path)

    def names(self):
        return sorted(each.name for each in self.path.iterdir() if each.is_file())

    def read(self, name):
        try:
            return (self.path / name).read_bytes().decode("utf-8")
        except FileNotFoundError:
            raise KeyError(name) from None

    def write(self, name, text):
        (self.path / name).write_bytes(text.encode("utf-8"))

    def append(self, name, text):
        with open(self.path / name, "ab") as file:
            file.write(text.encode("utf-8"))

    def rename(self, name, other):
        (self.path / name).replace(self.path / other)

    def delete(self, name):
        (self.path / name).unlink()

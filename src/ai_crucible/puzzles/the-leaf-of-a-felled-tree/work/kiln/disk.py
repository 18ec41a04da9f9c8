"""Disks: files by path."""


class Disk:
    """Files in memory; ``calls`` has what was written and deleted."""

    def __init__(self, files=()):
        self.files = dict(files)
        self.calls = []

    def paths(self):
        """Return all paths in order."""
        return sorted(self.files)

    def read(self, path):
        """Return a file's text, or None."""
        return self.files.get(path)

    def write(self, path, text):
        """Make a file, or make it anew."""
        self.calls.append(("write", path))
        self.files[path] = text

    def delete(self, path):
        """Take a file away."""
        self.calls.append(("delete", path))
        del self.files[path]


class FolderDisk(Disk):
    """Files of a folder, read at the beginning."""

    def __init__(self, folder):
        files = [path for path in folder.rglob("*") if path.is_file()]
        super().__init__({path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8") for path in files})
        self.folder = folder

    def write(self, path, text):
        super().write(path, text)
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8"))

    def delete(self, path):
        super().delete(path)
        (self.folder / path).unlink()

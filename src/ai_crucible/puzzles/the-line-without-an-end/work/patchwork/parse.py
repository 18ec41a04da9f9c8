"""A diff's text, read into files and hunks."""

import re
from dataclasses import dataclass, field

NO_FILE = "/dev/null"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class PatchError(ValueError):
    """A diff that cannot be read; ``line`` counts from 1."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line


@dataclass
class Hunk:
    """Edits ``(mark, line)`` in order; a mark is a blank, ``-`` or ``+``, and a line has its end."""

    old_start: int
    new_start: int
    edits: list = field(default_factory=list)

    @property
    def old(self):
        return [line for mark, line in self.edits if mark != "+"]

    @property
    def new(self):
        return [line for mark, line in self.edits if mark != "-"]

    @property
    def index(self):
        """How many lines of the old text come before it."""
        return self.old_start - 1 if self.old else self.old_start


@dataclass
class FilePatch:
    """What happens to one file."""

    old_name: str
    new_name: str
    hunks: list = field(default_factory=list)


def split(text):
    """The lines of a text with their ends; the last one may have none."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def read_patch(text):
    """Read all files of a diff; what stands between them is passed over."""
    lines = split(text)
    files, at = [], 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            files.append(FilePatch(_name(line), _name(lines[at + 1])))
            at += 2
        elif line.startswith("@@ "):
            if not files:
                raise PatchError(at + 1, "a hunk of no file")
            hunk, at = _read_hunk(lines, at)
            files[-1].hunks.append(hunk)
        else:
            at += 1
    return files


def _name(line):
    return line[4:].rstrip("\r\n").split("\t")[0]


def _read_hunk(lines, at):
    """Return the hunk that begins at a line, and where the next thing begins."""
    begun = at + 1
    head = _HUNK.match(lines[at])
    if head is None:
        raise PatchError(begun, "a hunk that says not where")
    old_left, new_left = (1 if head[part] is None else int(head[part]) for part in (2, 4))
    hunk = Hunk(int(head[1]), int(head[3]))
    at += 1
    while at < len(lines):
        line = lines[at]
        mark = line[0]
        if mark == "\\":
            if not hunk.edits:
                raise PatchError(at + 1, "no line comes before this")
            at += 1
            continue
        if not old_left and not new_left:
            break
        if mark not in " -+":
            raise PatchError(at + 1, "neither kept, nor taken out, nor put in")
        old_left -= mark != "+"
        new_left -= mark != "-"
        if old_left < 0 or new_left < 0:
            raise PatchError(begun, "a hunk that is longer than it says")
        hunk.edits.append((mark, line[1:] if line.endswith("\n") else line[1:] + "\n"))
        at += 1
    if old_left or new_left:
        raise PatchError(begun, "a hunk that is shorter than it says")
    return hunk, at

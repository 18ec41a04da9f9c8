"""Asks the larders of a solution what the checks compare; its disks can be cut off."""

import contextlib
import io
import os
import tempfile

from larder import Disk, Folder, LarderError, Record, load, migrate, put


class Cut(BaseException):
    """The machine is off."""


class Frail(Disk):
    """A disk that is cut off within a change: ``when`` counts them from 1, ``how`` is what is left of it, 0 to 1."""

    def __init__(self, files, when=0, how=0.0):
        super().__init__(files)
        self.when, self.how, self.changes, self.written, self.off = when, how, 0, 0, False

    def _now(self):
        if self.off:
            raise Cut
        self.changes += 1
        return self.changes == self.when

    def _cut(self):
        self.off = True
        raise Cut

    def write(self, name, text):
        now = self._now()
        self.written += 1
        if now and self.how < 0:
            self._cut()
        super().write(name, text[: int(len(text) * self.how)] if now else text)
        if now:
            self._cut()

    def append(self, name, text):
        now = self._now()
        self.written += 1
        if now and self.how < 0:
            self._cut()
        super().append(name, text[: int(len(text) * self.how)] if now else text)
        if now:
            self._cut()

    def rename(self, name, other):
        now = self._now()
        if not now or self.how >= 0.5:
            super().rename(name, other)
        if now:
            self._cut()

    def delete(self, name):
        now = self._now()
        if not now or self.how >= 0.5:
            super().delete(name)
        if now:
            self._cut()


def whole(files):
    return files.get("BOOK", "") == "end\n" or files.get("BOOK", "").endswith("\nend\n")


def loaded(files):
    """What is loaded, as plain values, and whether that changed nothing."""
    disk = Frail(files)
    found = {key: [record.key, record.revision, record.fields] for key, record in load(disk).items()}
    return [found, disk.changes == 0 and disk.files == files]


def moved(files, cuts):
    """A migration that is cut off, and edited in between while there is no whole book; cuts are (when, how, edits)."""
    seen, written, count = [], 0, 0
    for when, how, edits in cuts:
        disk = Frail(files, when, how)
        cut = False
        try:
            migrate(disk)
        except Cut:
            cut = True
        count += cut
        written += disk.written
        files = dict(disk.files)
        after = loaded(files)
        edited = cut and bool(edits) and not whole(files)
        if edited:
            for name, text in edits.items():
                if text is None:
                    files.pop(name, None)
                else:
                    files[name] = text
        seen.append([cut, edited, after, loaded(files)])
    disk = Frail(files)
    migrate(disk)
    written += disk.written
    again = Frail(disk.files)
    migrate(again)
    return [seen, dict(disk.files), count, written, again.changes, again.files == disk.files, loaded(again.files)]


def once(files):
    """How often a migration that is not cut off writes, and what it leaves."""
    disk = Frail(files)
    migrate(disk)
    return [disk.written, disk.files]


def old(puts):
    """The files that puts leave, and what is loaded of them."""
    disk = Disk()
    answers = []
    for key, fields in puts:
        try:
            record = put(disk, key, fields)
            answers.append([record.key, record.revision, record.fields])
        except LarderError:
            answers.append("refused")
    return [answers, disk.files, loaded(disk.files)]


def read(files):
    return loaded(files)


def firm():
    """Whether records stay as they were made, and equal ones are equal."""
    one = Record("a", 1, {"b": "c"})
    try:
        one.key = "d"
    except AttributeError:
        return one == Record("a", 1, {"b": "c"})
    return False


def printed(files, *words):
    """Exit and output of the command line, one after another, and the folder afterwards."""
    with tempfile.TemporaryDirectory() as room:
        for name, text in files.items():
            with open(os.path.join(room, name), "wb") as file:
                file.write(text.encode())
        from larder.__main__ import main

        seen = []
        for way in words:
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                seen.append([main([room, *way]), out.getvalue()])
        return [seen, {name: Folder(room).read(name) for name in Folder(room).names()}]

"""Works rules off."""

from dataclasses import dataclass, field

from kiln.errors import ToolError
from kiln.results import Had, files_of
from kiln.rules import rules_of
from kiln.state import STATE, digest, keep, load, row
from kiln.tools import TOOLS


@dataclass
class Result:
    """What a build did."""

    ran: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    written: list = field(default_factory=list)
    deleted: list = field(default_factory=list)


class Build:
    """A build: what a rule sees, and what is made so far."""

    def __init__(self, disk, tools):
        self.tools = tools
        self.results = load(disk)
        self.seen = {path: disk.read(path) for path in disk.paths() if path != STATE and not path.startswith("out/")}
        self.made = {}
        self.rows = []
        self.result = Result()

    def work_off(self, rule):
        """Work a rule off; what it makes is seen by those below it."""
        for path in sorted(self.seen):
            if not (stem := rule.stem(path)):
                continue
            target = rule.target.replace("*", stem)
            try:
                call, had = self._had(rule, path)
                files = files_of(had.made, target)
                self.results.add(call, had)
                if files.keys() & self.made.keys():
                    raise ToolError("an earlier step made that")
            except ToolError:
                self.result.failed.append((rule.line, path))
                continue
            self.made.update(files)
            self.rows.append(row(call, had, files, target))
        self.seen.update(self.made)

    def _had(self, rule, path):
        """Return what is called for a step, and a result of it."""
        text, (version, tool) = self.seen[path], self.tools[rule.tool]
        call = rule.tool, version, rule.arguments, digest(text)
        had = self.results.fitting(call, lambda path: digest(self.seen.get(path)))
        if had is None:
            reads = {}

            def read(path):
                reads[path] = digest(self.seen.get(path))
                return self.seen.get(path)

            self.result.ran.append((rule.line, path))
            had = Had(reads, tool(text, list(rule.arguments), read))
        return call, had


def build(disk, tools=TOOLS):
    """Make what is to be made."""
    rules = rules_of(disk.read("kiln.txt") or "", tools)
    whole = Build(disk, tools)
    for rule in rules:
        whole.work_off(rule)
    for path in disk.paths():
        if path.startswith("out/") and path not in whole.made:
            disk.delete(path)
            whole.result.deleted.append(path)
    for path, text in sorted(whole.made.items()):
        if disk.read(path) != text:
            disk.write(path, text)
            whole.result.written.append(path)
    keep(disk, whole.rows)
    return whole.result

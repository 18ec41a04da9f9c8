"""Works rules off."""

from dataclasses import dataclass, field

from kiln.errors import ToolError
from kiln.rules import rules_of
from kiln.state import STATE, digest, keep, load
from kiln.tools import TOOLS


@dataclass
class Result:
    """What a build did."""

    ran: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    written: list = field(default_factory=list)
    deleted: list = field(default_factory=list)


def build(disk, tools=TOOLS):
    """Make what is to be made."""
    result, known = Result(), load(disk)
    for rule in rules_of(disk.read("kiln.txt") or "", tools):
        for path in disk.paths():
            stem = rule.stem(path)
            if not stem or path == STATE:
                continue
            text = disk.read(path)
            target = rule.target.replace("*", stem)
            if known.get(path) == digest(text) and disk.read(target) is not None:
                continue
            result.ran.append((rule.line, path))
            try:
                made = tools[rule.tool][1](text, list(rule.arguments), disk.read)
            except ToolError:
                result.failed.append((rule.line, path))
                continue
            known[path] = digest(text)
            for name, part in made.items() if isinstance(made, dict) else [("", made)]:
                disk.write(target + name, part)
                result.written.append(target + name)
    keep(disk, known)
    return result

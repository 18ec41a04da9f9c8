"""Rules as text."""

from dataclasses import dataclass

from kiln.errors import KilnError


@dataclass(frozen=True)
class Rule:
    """A rule: its line, what it is for, what it makes, by what."""

    line: int
    pattern: str
    target: str
    tool: str
    arguments: tuple

    def stem(self, path):
        """Return what the star stands for in a path; empty where the pattern does not match."""
        before, _, behind = self.pattern.partition("*")
        stem = path[len(before) : len(path) - len(behind)]
        return stem if before + stem + behind == path and "/" not in stem else ""


def rules_of(text, tools):
    """Return the rules that a text is."""
    rules = []
    for number, line in enumerate(text.split("\n"), 1):
        words = [word for word in line.split(" ") if word]
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 5 or words[1] != "->" or words[3] != ":":
            raise KilnError(number, "a rule is PATTERN -> TARGET : TOOL")
        pattern, target, tool = words[0], words[2], words[4]
        if pattern.count("*") != 1 or target.count("*") > 1:
            raise KilnError(number, "a pattern has one *, a target one at the most")
        if not target.startswith("out/"):
            raise KilnError(number, "a target lies in out/")
        if tool not in tools:
            raise KilnError(number, f"there is no tool {tool}")
        rules.append(Rule(number, pattern, target, tool, tuple(words[5:])))
    return rules

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
        if path.startswith(before) and path.endswith(behind):
            return path[len(before) : len(path) - len(behind)]
        return ""


def rules_of(text, tools):
    """Return the rules that a text is."""
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 5 or words[1] != "->" or words[3] != ":":
            raise KilnError(number, "a rule is PATTERN -> TARGET : TOOL")
        if "*" not in words[0]:
            raise KilnError(number, "a pattern has a *")
        rules.append(Rule(number, words[0], words[2], words[4], tuple(words[5:])))
    return rules

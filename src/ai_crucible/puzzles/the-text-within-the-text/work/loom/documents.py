"""Documents: taken out of a file and put into its expressions as strings."""

import re

BEGIN = re.compile(r"<<(~?)('?)([A-Z][A-Z0-9_]*)\2")


def gathered(lines, at):
    """Return the line at a place with its document as a string, and the place of the next line."""
    line = lines[at]
    match = BEGIN.search(line)
    if match is None:
        return line, at + 1
    body = []
    at += 1
    while at < len(lines) and lines[at].strip() != match[3]:
        body.append(lines[at])
        at += 1
    if match[1]:
        cut = min((len(each) - len(each.lstrip(" ")) for each in body), default=0)
        body = [each[cut:] for each in body]
    text = "".join(each + "\n" for each in body)
    if match[2]:
        literal = "'" + text.replace("'", "''") + "'"
    else:
        literal = '"' + text.replace('"', '\\"') + '"'
    return line[: match.start()] + literal + line[match.end() :], at + 1

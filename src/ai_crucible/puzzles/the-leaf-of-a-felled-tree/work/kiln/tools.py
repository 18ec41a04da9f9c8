"""The tools that are always there."""

from kiln.errors import ToolError


def upper(text, arguments, read):
    return text.upper()


def head(text, arguments, read):
    """Put files in front; those that are not there are left out."""
    return "".join(read(path) or "" for path in arguments) + text


def include(text, arguments, read):
    """Put a file in the place of each line ``@PATH``."""
    lines = []
    for line in text.splitlines(keepends=True):
        if line.startswith("@"):
            line = read(line[1:].strip())
            if line is None:
                raise ToolError("there is no such file")
        lines.append(line)
    return "".join(lines)


def parts(text, arguments, read):
    """Return the texts behind lines ``= NAME``, by name."""
    found, name = {}, None
    for line in text.splitlines(keepends=True):
        if line.startswith("= "):
            name = line[2:].strip()
            found[name] = ""
        elif name is None:
            raise ToolError("something stands before the first name")
        else:
            found[name] += line
    return found


TOOLS = {"upper": (1, upper), "head": (1, head), "include": (1, include), "parts": (1, parts)}

"""The functions of formulas. Each takes its arguments as trees, and yields the names of cells that it wants to read."""

from abacus.values import NAME, PARSE, Error, number


def call(name, arguments, evaluate):
    """Return the value of a function."""
    if name not in FUNCTIONS:
        return NAME
    function, least, most = FUNCTIONS[name]
    if not least <= len(arguments) <= most:
        return PARSE
    return (yield from function(arguments, evaluate))


def _if(arguments, evaluate):
    if any(kind == "range" for kind, *_ in arguments):
        return PARSE
    test = number((yield from evaluate(arguments[0])))
    if isinstance(test, Error):
        return test
    if test:
        return (yield from evaluate(arguments[1]))
    return (yield from evaluate(arguments[2])) if len(arguments) > 2 else 0


def _if_error(arguments, evaluate):
    if any(kind == "range" for kind, *_ in arguments):
        return PARSE
    value = yield from evaluate(arguments[0])
    return (yield from evaluate(arguments[1])) if isinstance(value, Error) else value


def _parts(arguments):
    """Return arguments from left to right, a range as its cells."""
    parts = []
    for argument in arguments:
        parts += [("cell", name) for name in argument[1]] if argument[0] == "range" else [argument]
    return parts


def _over(fold):
    def function(arguments, evaluate):
        numbers = []
        for part in _parts(arguments):
            value = yield from evaluate(part)
            if isinstance(value, Error):
                return value
            if isinstance(value, int):
                numbers.append(value)
        return fold(numbers) if numbers else 0

    return function


def _count(arguments, evaluate):
    count = 0
    for part in _parts(arguments):
        value = yield from evaluate(part)
        count += isinstance(value, int)
    return count


MANY = 1000
FUNCTIONS = {
    "IF": (_if, 2, 3),
    "IFERROR": (_if_error, 2, 2),
    "SUM": (_over(sum), 1, MANY),
    "MIN": (_over(min), 1, MANY),
    "MAX": (_over(max), 1, MANY),
    "COUNT": (_count, 1, MANY),
}

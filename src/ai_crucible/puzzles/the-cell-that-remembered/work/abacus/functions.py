"""The functions of formulas. Each takes its arguments as trees, and what evaluates a tree or reads a cell."""

from abacus.values import NAME, PARSE, Error, number


def call(name, arguments, evaluate, read):
    """Return the value of a function."""
    if name not in FUNCTIONS:
        return NAME
    function, least, most = FUNCTIONS[name]
    if not least <= len(arguments) <= most:
        return PARSE
    return function(arguments, evaluate, read)


def _if(arguments, evaluate, read):
    if any(kind == "range" for kind, *_ in arguments):
        return PARSE
    test = number(evaluate(arguments[0]))
    if isinstance(test, Error):
        return test
    if test:
        return evaluate(arguments[1])
    return evaluate(arguments[2]) if len(arguments) > 2 else 0


def _if_error(arguments, evaluate, read):
    if any(kind == "range" for kind, *_ in arguments):
        return PARSE
    value = evaluate(arguments[0])
    return evaluate(arguments[1]) if isinstance(value, Error) else value


def _values(arguments, evaluate, read):
    """Yield the values of arguments from left to right, those of a range one by one."""
    for argument in arguments:
        if argument[0] == "range":
            for name in argument[1]:
                yield read(name)
        else:
            yield evaluate(argument)


def _over(fold):
    def function(arguments, evaluate, read):
        numbers = []
        for value in _values(arguments, evaluate, read):
            if isinstance(value, Error):
                return value
            if isinstance(value, int):
                numbers.append(value)
        return fold(numbers) if numbers else 0

    return function


def _count(arguments, evaluate, read):
    return sum(isinstance(value, int) for value in _values(arguments, evaluate, read))


MANY = 1000
FUNCTIONS = {
    "IF": (_if, 2, 3),
    "IFERROR": (_if_error, 2, 2),
    "SUM": (_over(sum), 1, MANY),
    "MIN": (_over(min), 1, MANY),
    "MAX": (_over(max), 1, MANY),
    "COUNT": (_count, 1, MANY),
}

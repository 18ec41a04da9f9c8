"""Orders as text."""

from till.money import cents
from till.order import Discount, Line, Order


class OrderError(ValueError):
    """A text that is no order: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def read_order(text):
    """Return the order of a text."""
    lines, discounts, shipping = [], [], None
    for number, row in enumerate(text.splitlines(), 1):
        words = row.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            match words:
                case ["line", units, each, rate, category]:
                    lines.append(Line(whole(units, 1), positive(each), whole(rate, 0), category))
                case ["discount", number_of, "thousandths", *category] if len(category) < 2:
                    if whole(number_of, 0) > 1000:
                        raise ValueError("a discount is at most the whole")
                    discounts.append(Discount(thousandths=int(number_of), category="".join(category)))
                case ["discount", amount, "off", *category] if len(category) < 2:
                    discounts.append(Discount(amount=positive(amount), category="".join(category)))
                case ["shipping", amount] if shipping is None:
                    shipping = positive(amount)
                case _:
                    raise ValueError("neither a line, a discount nor the only shipping")
        except ValueError as fault:
            raise OrderError(number, str(fault)) from None
    return Order(tuple(lines), tuple(discounts), shipping or 0)


def whole(text, least):
    """Return a whole number that is not below another one; ValueError where it is none."""
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise ValueError(f"{text!r} is no number from {least} on")
    return int(text)


def positive(text):
    """Return an amount that is not negative."""
    amount = cents(text)
    if amount < 0:
        raise ValueError(f"{text} is negative")
    return amount

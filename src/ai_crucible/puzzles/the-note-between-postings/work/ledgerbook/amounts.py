"""Money: whole numbers of the smallest unit, by currency."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

PLACES = {"JPY": 0, "KRW": 0, "KWD": 3, "BHD": 3}


def places(currency):
    """How many decimals a currency has."""
    return PLACES.get(currency, 2)


@dataclass(frozen=True)
class Amount:
    """So many of the smallest unit of one currency."""

    units: int
    currency: str

    @classmethod
    def parse(cls, text, currency):
        """Read a decimal number; it has no more decimals than its currency."""
        if not (currency.isalpha() and currency.isupper() and len(currency) == 3):
            raise ValueError(f"{currency!r} is no currency")
        try:
            number = Decimal(text)
        except InvalidOperation:
            raise ValueError(f"{text!r} is no number") from None
        if not number.is_finite():
            raise ValueError(f"{text!r} is no amount")
        units = number.scaleb(places(currency))
        if units != units.to_integral_value():
            raise ValueError(f"{text!r} has too many decimals for {currency}")
        return cls(int(units), currency)

    def __neg__(self):
        return Amount(-self.units, self.currency)

    def __str__(self):
        count = places(self.currency)
        sign = "-" if self.units < 0 else ""
        if not count:
            return f"{sign}{abs(self.units)} {self.currency}"
        whole, rest = divmod(abs(self.units), 10**count)
        return f"{sign}{whole}.{rest:0{count}} {self.currency}"


class Money:
    """Amounts of several currencies at once; those that are zero are not there."""

    def __init__(self, amounts=()):
        self._units = {}
        for amount in amounts:
            self._add(amount)

    def _add(self, amount):
        units = self._units.get(amount.currency, 0) + amount.units
        if units:
            self._units[amount.currency] = units
        else:
            self._units.pop(amount.currency, None)

    def __add__(self, other):
        return Money([*self.amounts(), *other.amounts()])

    def __neg__(self):
        return Money(-amount for amount in self.amounts())

    def __eq__(self, other):
        return isinstance(other, Money) and self._units == other._units

    def __bool__(self):
        return bool(self._units)

    def __hash__(self):
        return hash(frozenset(self._units.items()))

    def of(self, currency):
        """The amount of one currency."""
        return Amount(self._units.get(currency, 0), currency)

    def amounts(self):
        """The amounts that are there, by currency."""
        return [Amount(self._units[currency], currency) for currency in sorted(self._units)]

    def __str__(self):
        return ", ".join(map(str, self.amounts())) or "0"

"""How amounts are written for people: money, time, tokens, counts of things."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from llm_runtime.statistics.interval import Interval


def money(micros: int) -> str:
    """Write micro-dollars as dollars: two decimals from $1 up, four below, so that small calls still show.

    >>> money(0), money(1_234), money(2_500_000)
    ('$0', '$0.0012', '$2.50')
    """
    if micros == 0:
        return "$0"
    if 0 < micros < 50:
        return "<$0.0001"
    dollars = micros / 1_000_000
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"


def cost(micros: int, calls: int, unpriced: int) -> str:
    """Write what calls cost, of which some have no known price.

    >>> cost(2_500_000, 3, 0), cost(2_500_000, 3, 1), cost(0, 3, 3)
    ('$2.50', '$2.50+', 'unknown')
    """
    return "unknown" if unpriced and unpriced == calls else money(micros) + ("+" if unpriced else "")


def with_unknown(spent: str, unknown: int) -> str:
    """Write behind what was spent the micro-dollars of which nobody knows.

    >>> with_unknown("$2.50", 0), with_unknown("$2.50", 130_000)
    ('$2.50', '$2.50, unknown up to $0.1300')
    """
    return f"{spent}, unknown up to {money(unknown)}" if unknown else spent


def duration(milliseconds: int) -> str:
    """Write wall time as short as possible.

    >>> duration(420), duration(3_400), duration(72_000), duration(3_900_000)
    ('420 ms', '3.4 s', '1 min 12 s', '1 h 05 min')
    """
    if milliseconds < 1_000:
        return f"{max(milliseconds, 0)} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f} s"
    seconds = round(milliseconds / 1000)
    if seconds < 3_600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3_600} h {seconds % 3_600 // 60:02d} min"


def clock(milliseconds: int) -> str:
    """Write wall time that ticks, for a display.

    >>> clock(9_400), clock(72_000), clock(3_900_000)
    ('0:09', '1:12', '1:05:00')
    """
    seconds = max(milliseconds, 0) // 1000
    hours, rest = divmod(seconds, 3_600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def count(amount: int) -> str:
    """Write a whole number with its thousands apart."""
    return f"{amount:,}"


def percent(share: float) -> str:
    """Write a share as per cent, with one decimal where it is not whole.

    >>> percent(0.5), percent(0.125)
    ('50%', '12.5%')
    """
    return f"{share * 100:.1f}".removesuffix(".0") + "%"


def short_count(amount: int) -> str:
    """Write a whole number short: thousands as ``k``, millions as ``M``.

    >>> short_count(950), short_count(12_340), short_count(1_200_000)
    ('950', '12.3k', '1.2M')
    """
    if amount < 1_000:
        return str(amount)
    if amount < 999_950:
        return f"{amount / 1000:.1f}k"
    return f"{amount / 1_000_000:.1f}M"


def count_noun(amount: int, noun: str, plural: str = "") -> str:
    """Write a number and its noun.

    >>> count_noun(1, "loop"), count_noun(3, "loop"), count_noun(2, "reply", "replies")
    ('1 loop', '3 loops', '2 replies')
    """
    return f"{count(amount)} {noun if amount == 1 else plural or noun + 's'}"


def kind_words(kind: str) -> str:
    """Write the name of a kind of failure, as a log has it, in words.

    >>> kind_words("RateLimited"), kind_words("")
    ('rate limited', '')
    """
    return re.sub(r"\B([A-Z])", r" \1", kind).lower()


def in_words(items: list[str]) -> str:
    """Write items as a phrase.

    >>> in_words(["a", "b", "c"]), in_words(["a"]), in_words([])
    ('a, b and c', 'a', '')
    """
    return " and ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)


def written_time(milliseconds: int | None) -> str:
    """Write a moment since the epoch, in UTC; empty where there is none.

    >>> written_time(0)
    '1970-01-01 00:00:00 UTC'
    """
    if milliseconds is None:
        return ""
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def whole_percent(share: float) -> str:
    """Write a share as per cent, without decimals.

    >>> whole_percent(0.954)
    '95%'
    """
    return f"{share:.0%}"


def points(difference: float) -> str:
    """Write a difference of shares in percentage points.

    >>> points(-0.12), points(0.3), points(0.0)
    ('−12 pp', '+30 pp', '0 pp')
    """
    whole = round(difference * 100)
    return "0 pp" if whole == 0 else f"{'+' if whole > 0 else '−'}{abs(whole)} pp"


def reach(interval: Interval) -> str:
    """Write the bounds of an interval of shares as per cent."""
    return f"{whole_percent(interval.low)} to {whole_percent(interval.high)}"


def saved(amount: int, unit: str) -> str:
    """Write what was not spent: micro-dollars where the unit is ``"USD"``, else tokens."""
    return money(amount) if unit == "USD" else f"{short_count(amount)} tokens"

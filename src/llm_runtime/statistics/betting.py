"""An anytime-valid test of a success rate: bet against the null after every attempt, look whenever you like."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import Literal

from llm_runtime.structs import Struct


class BernoulliEProcess(Struct):
    """The wealth of a gambler who bets that a success rate exceeds (or falls short of) ``null_rate``.

    Starting at 1, each outcome x multiplies the wealth by 1 + λ(x - p₀), with the stake λ = (q - p₀) / (p₀(1 - p₀))
    and q = max(p₀, (s + 1/2) / (n + 1)) from the s successes in the n outcomes before: that is q/p₀ for a success
    and (1 - q)/(1 - p₀) for a failure. Where the null is true the wealth is a supermartingale, so by Ville's
    inequality it ever reaches 1/α with probability at most α, however often one looks and whenever one stops.
    ``less`` is the mirror image: failures against 1 - p₀.

    Source: Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B 86:1-27 (betting); Krichevsky & Trofimov 1981 (the
    estimate behind the stake); Ville 1939.

    A process is a value: :meth:`observe` returns the next one, so it folds over events. After a transition that
    changes what is measured, start a new one.

    Attributes:
        null_rate: p₀, 0 to 1 exclusive.
        alternative: ``greater`` tests the null "rate at most p₀" (for saturation), ``less`` "rate at least p₀".
        successes: seen so far.
        trials: seen so far.
        log_e: natural logarithm of the wealth now.
        log_peak: natural logarithm of the highest wealth so far, at least 0.

    Raises:
        ValueError: null_rate is not strictly between 0 and 1.
    """

    null_rate: float
    alternative: Literal["greater", "less"] = "greater"
    successes: int = 0
    trials: int = 0
    log_e: float = 0.0
    log_peak: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.null_rate < 1:
            raise ValueError(f"the null rate must lie strictly between 0 and 1, not {self.null_rate!r}")

    def observe(self, success: bool) -> BernoulliEProcess:
        """Return the process after one more outcome."""
        upward = self.alternative == "greater"
        null = self.null_rate if upward else 1 - self.null_rate
        guess = max(null, ((self.successes if upward else self.trials - self.successes) + 0.5) / (self.trials + 1))
        log_e = self.log_e + log(guess / null if success == upward else (1 - guess) / (1 - null))
        counts = {"successes": self.successes + success, "trials": self.trials + 1}
        return replace(self, **counts, log_e=log_e, log_peak=max(self.log_peak, log_e))

    @property
    def p_value(self) -> float:
        """One over the highest wealth so far: a p-value that stays valid under optional stopping."""
        return exp(-self.log_peak)

    def rejects(self, alpha: float) -> bool:
        """Tell whether the wealth has ever reached 1/alpha.

        Args:
            alpha: the chance of a false rejection that is accepted over the whole sequence, 0 to 1 exclusive.

        Raises:
            ValueError: alpha is not strictly between 0 and 1.
        """
        if not 0 < alpha < 1:
            raise ValueError(f"alpha must lie strictly between 0 and 1, not {alpha!r}")
        return self.p_value <= alpha

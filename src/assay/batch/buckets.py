"""Rates as rows: a request and its tokens are taken in one statement, which returns the time to wait.

A bucket is a theoretical arrival time (the generic cell rate algorithm, ITU-T I.371): granted calls never exceed
burst + rate x time, whoever asks. Where tenants wait for one bucket, the one that was served least goes next
(start-time fair queueing, Goyal et al. 1996, with one request as the unit).
"""

from __future__ import annotations

from assay.batch.database import SQL, Database, NamedQueries
from llm_runtime.structs import Struct
from llm_runtime.wrappers.limiting import LONGEST_PAUSE, Limits
from llm_runtime.wrappers.pausing import FAULTS, PAUSE_SECONDS

#: Microseconds of a rate that may come at once.
BURST_US = 10_000_000
#: The pace of a bucket that nobody was refused at, in millionths.
FULL_PACE = 1_000_000
#: Longest time between two looks at a bucket, in microseconds: whoever waits is remembered for that long.
LOOK_US = 5_000_000
#: For how long a worker's places in flight are kept for it after its last sign of life, in microseconds.
LEASE_US = 60_000_000
_SLOWEST = FULL_PACE // 64
_MINUTE_US = 60_000_000
#: After how long to look again where a place in flight, or another tenant's turn, is waited for.
_SOON_US = 20_000
_PAUSE_US = round(PAUSE_SECONDS * 1_000_000)


class Grant(Struct):
    """What a bucket says: microseconds to wait before asking again, 0 for granted; its pace in millionths; and
    whether the last that was heard of the provider was a fault."""

    wait_us: int
    pace: int
    faulty: bool = False


class Closed(Struct):
    """A bucket that lets nobody through for now: microseconds until it is tried again, and the faults before."""

    bucket: str
    wait_us: int
    faults: int


class Buckets(NamedQueries):
    """Rows of rates, one for each provider and model.

    Args:
        database: where they are.
        owner: the worker that asks; its places in flight are given to others when it falls silent.
        tenant: on whose behalf it asks.
        lease_us: microseconds for which its places in flight are kept unless :meth:`renew` is called.
    """

    def __init__(self, database: Database, owner: str = "", tenant: str = "", lease_us: int = LEASE_US) -> None:
        super().__init__(database)
        self._owner = owner
        self._tenant = tenant
        self._lease_us = lease_us

    def open(self, bucket: str, limits: Limits) -> None:
        """Make the bucket, or give the one that is there new limits."""
        self._do("open", bucket, limits.requests_per_minute, limits.tokens_per_minute, limits.in_flight, FULL_PACE)

    def take(self, bucket: str, tokens: int) -> Grant:
        """Take a request, its tokens and its place in flight at once, or nothing and the time to wait.

        Where calls in flight are limited, whoever was granted one has to :meth:`land`.
        """
        wait, pace, bounded, places, faulty, shared = self.database.execute(_TAKE, (tokens, self._tenant, bucket))[0]
        if bounded and wait > 0:
            # Remembered a little longer than it sleeps; a tenant whose worker died holds nobody up for long.
            self._do("wait_in_line", bucket, self._tenant, min(wait, LOOK_US) + 1_000_000)
        elif shared:  # somebody has waited here once
            # Whoever comes late begins where those who wait stand: what it did not ask for earlier is not owed to it.
            self._do("served", bucket, self._tenant)
        if places and wait <= 0:
            self._do("fly", bucket, self._owner, self._lease_us)
        return Grant(int(wait), int(pace), bool(faulty))

    def land(self, bucket: str) -> None:
        """Give a place in flight back. One that was taken away with the lease is not given back twice."""
        if self._do("land", bucket, self._owner):
            self._do("landed", 1, bucket)

    def renew(self) -> None:
        """Keep one's own places in flight, and free those of workers that fell silent."""
        self._do("keep_flying", self._lease_us, self._owner)
        self._free("until < assay_now()")

    def leave(self) -> None:
        """Free all of one's own places."""
        self._free("owner = ?", self._owner)

    def refused(self, bucket: str, retry_after: float | None) -> None:
        """Close the bucket after a 429 for all, until its Retry-After is over (1 s where there is none, 120 s at
        most), and halve the pace, down to 1/64. A burst of refusals is one."""
        self._do("refused", _SLOWEST, round(min(retry_after or 1.0, LONGEST_PAUSE) * 1_000_000), bucket)

    def faulted(self, bucket: str) -> None:
        """Count a fault of the provider. From the fifth in a row on the bucket is closed for 30 s; then one call
        goes for all workers, and what it meets decides."""
        self._do("faulted", FAULTS, _PAUSE_US, bucket)

    def answered(self, bucket: str) -> None:
        """Note that the provider does its work: after a fault all go at once, after a 429 a tenth faster, up to the
        full rate."""
        self._do("answered", FAULTS, FULL_PACE, bucket)

    def closed(self) -> list[Closed]:
        """Return what lets nobody through for now."""
        return [Closed(bucket, int(wait), int(faults)) for bucket, wait, faults in self._do("closed")]

    def busy(self) -> list[str]:
        """Return what else calls wait for, each in a phrase: a place in flight, a rate, another tenant's turn."""
        phrases: list[str] = []
        for bucket, places, flying, requests, requests_us, tokens, tokens_us in self._do("busy"):
            if places is not None and flying >= places:
                phrases.append(f"{bucket}: a place in flight ({flying} of {places} taken)")
            elif requests is not None and requests_us > BURST_US // 2:
                phrases.append(f"{bucket}: its rate ({requests:,} requests a minute)")
            elif tokens is not None and tokens_us > 0:
                phrases.append(f"{bucket}: its rate ({tokens:,} tokens a minute)")
            else:
                phrases.append(f"{bucket}: its turn")
        return phrases

    def outage(self) -> bool:
        """Tell whether a provider is out of order."""
        return bool(self.database.execute("SELECT 1 FROM buckets WHERE faults >= ?", (FAULTS,)))

    def _free(self, whose: str, *values: str) -> None:
        for bucket, flying in sorted(self._do("free", *values, whose=whose)):
            self._do("landed", flying, bucket)


def _take_statement() -> str:
    parts = {"minute": _MINUTE_US, "full": FULL_PACE, "burst": BURST_US, "soon": _SOON_US, "pause": _PAUSE_US}
    filled: dict[str, object] = {**parts, "faults": FAULTS}
    for part in ("request", "token", "wait"):
        filled[part] = SQL[part].format_map(filled)
    return SQL["take"].format_map(filled)


_TAKE = _take_statement()

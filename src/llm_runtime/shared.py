"""What the gateways of one process share: a limit is the endpoint's, not a run's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_runtime.settings import Limits
from llm_runtime.wrappers.limiting import Limiter
from llm_runtime.wrappers.pausing import Outage

if TYPE_CHECKING:
    from llm_runtime.endpoints import Endpoint
    from llm_runtime.http import Http


class Shared:
    """What the gateways of one process share: connections, and what an endpoint lets through."""

    def __init__(self, http: Http) -> None:
        self.http = http
        #: By the entry that sets the limits, and the endpoint: a key of one's own has limits of its own.
        self.limiters: dict[tuple[str, Endpoint, Limits], Limiter] = {}
        self.outages: dict[Endpoint, Outage] = {}

"""A worker in a process of its own that is soon held for dead: ``python -m tests.assay.queue.queue_worker URL``."""

from __future__ import annotations

import asyncio
import sys

from assay.queue.log import log_lines
from assay.queue.service import Service, serve

if __name__ == "__main__":
    asyncio.run(serve(Service(sys.argv[1], log_lines(as_json=True), at_once=4, drain_s=5, silent_s=2)))

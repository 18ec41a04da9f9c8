"""Webhooks and reminders (CT18): signed, never followed elsewhere, never in the way."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from criticality.config import ChannelConfig, NotificationsConfig
from criticality.machine.states import Blocked, ProtocolState
from criticality.project.files import write_atomic
from criticality.project.journal import Clock, iso
from llm_runtime.errors import ConfigurationError
from llm_runtime.http.webhooks import SECONDS, deliver
from llm_runtime.rewording import instead
from llm_runtime.tasks import gather

STATE = ".criticality/notification-state.json"
MESSAGE = "Criticality blocked. Run `criticality status` for details."


@dataclass(slots=True)
class Notifier:
    """Sends to every channel that wants an event; what goes wrong is written down and nothing else.

    Args:
        secrets: where signing keys are looked up, by the channel's ``secret_env``.
    """

    root: Path
    config: NotificationsConfig
    clock: Clock
    secrets: Mapping[str, str] = field(default_factory=lambda: os.environ)
    seconds: float = SECONDS

    async def __call__(self, event: str, state: ProtocolState) -> None:
        """Notify of ``event``; returns when every channel has answered or had its time."""
        channels = [c for c in self.config.channels if c.enabled and event in c.events]
        if not self.config.enabled or not channels:
            return
        outcomes = await gather(self._send(channel, event, state) for channel in channels)
        self._note({"last_event": event, "at": iso(self.clock()), "channels": list(outcomes)})

    def due(self, state: ProtocolState) -> bool:
        """Tell whether a reminder is due: blocked, and the schedule has passed since the last one or the block."""
        from cronsim import CronSim, CronSimError

        if not isinstance(state, Blocked) or not self.config.enabled:
            return False
        seen = self._noted()
        last = datetime.fromisoformat(str(seen.get("last_sent") or seen.get("at") or iso(0)))
        refused = ConfigurationError(
            f"reminder_schedule {self.config.reminder_schedule!r} is no schedule of five fields"
        )
        with instead(refused, CronSimError):
            upcoming = next(CronSim(self.config.reminder_schedule, last.astimezone(UTC)))
        return upcoming <= datetime.fromtimestamp(self.clock() / 1000, UTC)

    async def remind(self, state: ProtocolState) -> bool:
        """Send a reminder if one is due."""
        if not self.due(state):
            return False
        await self("block", state)
        self._note({"last_sent": iso(self.clock())})
        return True

    async def _send(self, channel: ChannelConfig, event: str, state: ProtocolState) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "event": event,
            "timestamp": iso(self.clock()),
            "message": MESSAGE if event == "block" else "",
            "protocol_state": state.model_dump(mode="json", by_alias=True, exclude={"prior"}),
        }
        if isinstance(state, Blocked):
            payload["blocking_record"] = {
                "id": state.query.id,
                "phase": state.prior_phase,
                "query": state.query.question,
                "options": [option.label for option in state.query.options],
                "resolved": False,
            }
        secret = self.secrets.get(channel.secret_env, "") if channel.secret_env else ""
        outcome = await deliver(channel.endpoint, payload, "criticality", secret, seconds=self.seconds)
        return {"endpoint": urlsplit(channel.endpoint).hostname or "?", "event": event, "outcome": outcome}

    def _noted(self) -> dict[str, Any]:
        try:
            return json.loads((self.root / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _note(self, news: dict[str, Any]) -> None:
        write_atomic(self.root / STATE, json.dumps({**self._noted(), **news}, indent=2) + "\n")

"""A loopback chat-completions server in a process of its own, so that its work is not counted as ours."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from aiohttp import web

TRIAGE = {
    "reconstructed_query": "Should a small team split its monolith?",
    "complexity": "complex",
    "short_circuit_allowed": False,
    "council": [
        {"role": "domain_expert", "system_prompt": "Argue from architecture.", "model_hint": None},
        {"role": "pragmatist", "system_prompt": "Argue from what a team can do.", "model_hint": None},
        {"role": "creative", "system_prompt": "Look for a third way.", "model_hint": None},
        {"role": "red_team", "system_prompt": "Attack.", "model_hint": None},
    ],
    "loop_grammar": "parallel",
    "loop_count": 4,
    "red_team_flavor": "logical",
    "allow_early_exit": False,
    "synthesis_instruction": "Decide, in 200 words.",
}
POSITION = "The cost of a split is paid at once and its gains arrive late; what decides is who is on call. " * 6


def answer(model: str) -> str:
    return json.dumps(TRIAGE) if model == "openrouter/auto-triage" else POSITION


async def serve(latency: float) -> None:
    async def complete(request: web.Request) -> web.Response:
        asked: dict[str, Any] = await request.json()
        if latency:
            await asyncio.sleep(latency)
        message = {"role": "assistant", "content": answer(asked["model"])}
        return web.json_response(
            {
                "id": "gen-1",
                "model": asked["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 900, "completion_tokens": 150, "cost": 0.0004},
            }
        )

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))

"""The batch interfaces of four vendors on this machine: what they take, how they look after it, what comes back.

Every call in a batch is put to a :class:`~llm_runtime.testing.LoopbackServer`, so answers are those of the vendor's
own wire. Paths and fields are from the vendors' documentation.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import aiohttp
from aiohttp import web

from llm_runtime.testing import LoopbackServer

#: Where each listens, after the host.
BASES = {"openai": "/v1", "anthropic": "", "gemini": "/v1beta/openai", "mistral": "/v1"}


@dataclass
class Job:
    """A batch as its vendor has it."""

    rows: list[dict[str, Any]]
    looks: int = 0
    over: str = ""
    errors: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


@dataclass
class VendorServer:
    """One vendor.

    Args:
        vendor: whose interface.
        inner: answers single calls.
        looks: how often a batch is looked at before it is over.
        loses: whether a call, by its number from 1, never comes back.
        refuses: makes the errors of a batch that is refused whole, given the number of its calls.
    """

    vendor: str
    inner: LoopbackServer
    looks: int = 1
    loses: Callable[[int], bool] = lambda _: False
    refuses: Callable[[int], list[dict[str, str]]] = lambda _: []
    jobs: dict[str, Job] = field(default_factory=dict[str, Job])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    cancelled: list[str] = field(default_factory=list[str])
    looked: asyncio.Event = field(default_factory=asyncio.Event)
    direct: int = 0
    calls: int = 0

    async def __aenter__(self) -> Self:
        base = BASES[self.vendor]
        app = web.Application(client_max_size=2**28)
        add = app.router.add_route
        root = {"openai": f"{base}/batches", "gemini": f"{base}/batches", "mistral": f"{base}/batch/jobs"}
        jobs = root.get(self.vendor, "/v1/messages/batches")
        add("POST", jobs, self._create)
        add("GET", f"{jobs}/{{id}}", self._look)
        add("POST", f"{jobs}/{{id}}/cancel", self._cancel)
        add("GET", f"{jobs}/{{id}}/results", self._results)
        if self.vendor == "gemini":
            add("POST", "/upload/v1beta/files", self._upload)
            add("GET", "/download/v1beta/files/{id}:download", self._content)
        else:
            add("POST", f"{base}/files", self._upload)
            add("GET", f"{base}/files/{{id}}/content", self._content)
        add("POST", f"{base}/chat/completions", self._direct)
        add("POST", "/v1/messages", self._direct)
        add("GET", f"{base}/models", self._models)
        if self.vendor == "anthropic":
            add("GET", "/v1/models", self._models)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}{base}"
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._runner.cleanup()

    def environment(self) -> dict[str, str]:
        name = self.vendor.upper()
        return {f"{name}_API_KEY": f"sk-{self.vendor}-0123456789", f"{name}_BASE_URL": self.url}

    def _known(self, request: web.Request) -> None:
        own = self.vendor == "gemini" and "load/v1beta" in request.path
        key = request.headers.get("x-goog-api-key") if own else request.headers.get("Authorization", "")[7:]
        key = request.headers.get("x-api-key") if self.vendor == "anthropic" else key
        if key != f"sk-{self.vendor}-0123456789":
            raise web.HTTPUnauthorized(text=json.dumps({"error": {"message": "no such key"}}))
        if self.vendor == "anthropic" and "anthropic-version" not in request.headers:
            raise web.HTTPBadRequest(text=json.dumps({"error": {"message": "no version"}}))

    async def _upload(self, request: web.Request) -> web.Response:
        self._known(request)
        name = f"f{len(self.files)}"
        if self.vendor == "gemini":
            assert request.headers["X-Goog-Upload-Protocol"] == "raw"
            self.files[name] = await request.read()
            return web.json_response({"file": {"name": f"files/{name}"}})
        form = await request.post()
        assert form["purpose"] == "batch"
        file = form["file"]
        assert isinstance(file, web.FileField)
        self.files[name] = file.file.read()
        return web.json_response({"id": name, "purpose": "batch"})

    async def _create(self, request: web.Request) -> web.Response:
        self._known(request)
        body = await request.json()
        if self.vendor == "anthropic":
            rows = [{"custom_id": row["custom_id"], "body": row["params"]} for row in body["requests"]]
        else:
            [file] = body["input_files"] if self.vendor == "mistral" else [body["input_file_id"]]
            rows = [json.loads(line) for line in self.files[file.removeprefix("files/")].splitlines()]
            assert body["endpoint"] == "/v1/chat/completions"
            assert self.vendor != "mistral" or body["model"] == rows[0]["body"]["model"]
        assert len({row["custom_id"] for row in rows}) == len(rows)
        assert all(len(row["custom_id"]) <= 64 and "stream" not in row["body"] for row in rows)
        assert self.vendor == "anthropic" or len({row["body"]["model"] for row in rows}) == 1
        name = f"batch-{len(self.jobs)}"
        self.jobs[name] = Job(rows, errors=self.refuses(len(rows)))
        return web.json_response(self._told(name))

    def _told(self, name: str) -> dict[str, Any]:
        job = self.jobs[name]
        if self.vendor == "anthropic":
            return {"id": name, "processing_status": job.over or "in_progress"}
        running, file = ("RUNNING", "output_file") if self.vendor == "mistral" else ("in_progress", "output_file_id")
        errors: Any = job.errors if self.vendor == "mistral" else {"object": "list", "data": job.errors}
        came = f"out-{name}" if job.over and not job.errors else None
        came = f"files/{came}" if came and self.vendor == "gemini" else came
        return {"id": name, "status": job.over or running, file: came, "errors": errors if job.errors else None}

    async def _look(self, request: web.Request) -> web.Response:
        self._known(request)
        name = request.match_info["id"]
        if (job := self.jobs.get(name)) is None:
            return web.json_response({"error": {"message": "no such batch"}}, status=404)
        job.looks += 1
        self.looked.set()
        if job.looks > self.looks and not job.over:
            over, failed = {"anthropic": ("ended", "ended"), "mistral": ("SUCCESS", "FAILED")}.get(
                self.vendor, ("completed", "failed")
            )
            self.files[f"out-{name}"] = b"" if job.errors else await self._worked(job)
            job.over = failed if job.errors else over
        return web.json_response(self._told(name))

    async def _worked(self, job: Job) -> bytes:
        lines = list[dict[str, Any]]()
        for row in reversed(job.rows):
            self.calls += 1
            lost = self.loses(self.calls)
            path = "/v1/messages" if self.vendor == "anthropic" else "/v1/chat/completions"
            async with self._session.post(self.inner.url + path, json=row["body"]) as response:
                status, body = response.status, await response.json()
            if self.vendor == "anthropic":
                result = {"type": "expired"} if lost else {"type": "succeeded", "message": body}
                if status != 200:
                    kind = "invalid_request_error" if status == 400 else "api_error"
                    result = {"type": "errored", "error": {"type": "error", "error": {**body["error"], "type": kind}}}
                lines.append({"custom_id": row["custom_id"], "result": result})
            elif lost:
                error = {"code": "batch_expired", "message": "not in time"}
                lines.append({"custom_id": row["custom_id"], "response": None, "error": error})
            else:
                answer = {"status_code": status, "request_id": "r", "body": body}
                lines.append({"custom_id": row["custom_id"], "response": answer, "error": None})
        return b"\n".join(json.dumps(line).encode() for line in lines)

    async def _content(self, request: web.Request) -> web.Response:
        self._known(request)
        return web.Response(body=self.files[request.match_info["id"]], content_type="application/octet-stream")

    async def _results(self, request: web.Request) -> web.Response:
        self._known(request)
        return web.Response(body=self.files[f"out-{request.match_info['id']}"], content_type="application/x-jsonl")

    async def _cancel(self, request: web.Request) -> web.Response:
        self._known(request)
        self.cancelled.append(request.match_info["id"])
        return web.json_response({"id": request.match_info["id"]})

    async def _direct(self, _: web.Request) -> web.Response:
        self.direct += 1
        return web.json_response({"error": {"message": "asked at once"}}, status=400)

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "model-of-mine", "object": "model"}]})

"""Hostile files at every door that reads what others wrote: nothing runs, nothing else is opened or changed, no
socket, no process, bounded memory, and one line that says why (THREATS.md)."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import try_all

ROOT = Path(__file__).parents[1]
#: What each door calls the file that it reads.
NAMES = {
    "puzzle": "meta.json", "tasks": "task.yaml", "job": "job.toml", "suite": "suite.toml", "prompt": "prompt.yaml",
    "watch": "watch.toml", "answers": "answers.toml", "build": "criticality.toml", "settings": "config.toml",
    "texts": "persona.json", "document": "essay.html", "recording": "run.jsonl",
}  # fmt: skip


class Runs:
    """Unpickled, it would run a program."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("touch CANARY",)


LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
HEADER = {"format": "llm-runtime-run", "version": 1, "run_id": "r", "records": 1, "head": None}
FILES: dict[str, str | bytes] = {
    # YAML that would make objects, or refers to itself
    "apply": "user: !!python/object/apply:os.system ['touch CANARY']\n",
    "new": "!!python/object/new:subprocess.Popen [['touch', 'CANARY']]\n",
    "name": "user: !!python/name:os.system\n",
    "module": "user: !!python/module:antigravity\n",
    "tuple": "user: !!python/tuple [1, 2]\n",
    "verbatim tag": "user: !<tag:yaml.org,2002:python/object/apply:eval> ['open(\"/etc/passwd\").read()']\n",
    "include": "user: !include /etc/passwd\nsystem: !ENV ${HOME}\n",
    "laughs": LAUGHS,
    "itself": "user: &a [*a]\n",
    "merge": "a: &a {b: c}\n" + "<<: *a\n" * 2000,
    "deep flow": "user: " + "[" * 50_000,
    "deep flow closed": "user: " + "[" * 3_000 + "]" * 3_000,
    "deep block": "".join(" " * n + "a:\n" for n in range(1_500)),
    "binary": "user: !!binary R0lGODlhDAAMAIQAAP\n",
    "date": "user: 9999-99-99\nsystem: 2001-12-14t21:59:43.10-99:99\n",
    "anchor": "user: &" + "a" * 500_000 + " x\n",
    "two documents": "user: a\n---\nuser: b\n",
    "keys": "? [a, b]\n: c\n? {d: e}\n: f\n",
    "octal": "id: 0o777\nuser: 190:20:30\n",
    "directive": "%YAML 9.9\n%TAG ! tag:yaml.org,2002:python/\n---\nuser: !name:os.system\n",
    # TOML
    "deep array": "a = " + "[" * 20_000 + "]" * 20_000,
    "deep table": "a = " + "{a = " * 5_000 + "1" + "}" * 5_000,
    "dotted": ".".join(["a"] * 20_000) + " = 1\n",
    "many tables": "".join(f"[[a{n}.b]]\n" for n in range(20_000)),
    "big number": "n = " + "9" * 100_000 + "\n",
    "outside": 'path = "/etc/shadow"\nplaces = ["/etc"]\ncases = []\nstudy = "/etc/shadow"\nkey = "/etc/shadow"\n',
    "command": 'command = ["touch", "CANARY"]\n[target]\ncommand = ["touch", "CANARY"]\ncases = []\n',
    "url": 'url = "http://127.0.0.1:1/x"\nfetch = true\n[target]\nurl = "http://127.0.0.1:1/x"\n',
    "run": 'run = "os.system"\nprotocol = "subprocess"\n[input]\npath = "x.csv"\n',
    "template": 'id = "{{ 7 * 7 }}{x.__class__}${HOME}`touch CANARY`$(touch CANARY)"\n',
    "dunder": '__class__ = "os"\n__proto__ = {a = 1}\nmodel_config = {extra = "allow"}\n',
    # JSON and JSON lines
    "deep json": "[" * 500_000,
    "deep json closed": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "deep rows": (json.dumps(HEADER) + "\n" + "[" * 100_000 + "\n"),
    "long number": '{"n": ' + "9" * 100_000 + "}",
    "not a number": '{"id": NaN, "budget": -Infinity, "n": 1e999}',
    "half characters": '{"id": "\\ud800", "title": "\\udfff\\u0000"}',
    "twice": '{"id": "a", "id": "../../a", "run_id": "b", "run_id": "../b"}',
    "py/object": '{"py/object": "os.system", "py/reduce": [{"py/function": "os.system"}], "__reduce__": 1}',
    "id outside": json.dumps({**HEADER, "run_id": "../../outside/run", "id": "../../outside", "records": 10**12}),
    "event": json.dumps(HEADER) + '\n{"type": "os.system", "kind": "subprocess.Popen", "args": ["touch CANARY"]}\n',
    "author": '{"name": "../../outside", "corpus": {"items": [{"id": "/etc/passwd", "path": "/etc/passwd"}]}}',
    # what is something else than its name says
    "pickle": pickle.dumps(Runs()),
    "old pickle": pickle.dumps(Runs(), protocol=0),
    "gzip": gzip.compress(b"0" * 1_000_000) * 50,
    "program": b"#!/bin/sh\ntouch CANARY\n",
    "elf": b"\x7fELF\x02\x01\x01" + bytes(200),
    "python": b"import os\nos.system('touch CANARY')\n",
    "entities": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd"><!ENTITY f SYSTEM "http://127.0.0.1:1/">]><x>&e;&f;</x>',
    "page": '<html><iframe src="file:///etc/passwd"></iframe><img src="http://127.0.0.1:1/x">Words of a page</html>',
    "utf-16": "user: ä\n".encode("utf-16"),
    "no characters": b"\xff\xfe\xfa\x00\x80user: x\n",
    "zeros": bytes(100_000),
    "nothing": b"",
    "one line": b"a" * 5_000_000,
}  # fmt: skip


@pytest.mark.long
def test_a_hostile_file_runs_nothing_and_opens_nothing_else(tmp_path: Path) -> None:
    assert len(FILES) >= 50
    contents = [data.encode() if isinstance(data, str) else data for data in FILES.values()]
    try_all(tmp_path, [(door, name, data) for door, name in NAMES.items() for data in contents])

"""SARIF 2.1.0: what stands around the results of any tool of ours, and how a result is known again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from assay import __version__
from assay.report.clean import one_line

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LINK = re.compile(r"([\\\[\]])")
Json: TypeAlias = dict[str, Any]


def sarif_text(
    tool: str, rules: Sequence[Json], category: str, results: Sequence[Json], *, faults: Sequence[str] = (),
    code: int | None = None, artifacts: Sequence[Json] = (),
) -> str:  # fmt: skip
    """Return the text of a log.

    Args:
        tool: its name.
        rules: that results refer to.
        category: what tells this upload from others of the same tool, with the run's id behind the last ``/``.
        results: what was found.
        faults: what went wrong, a line each.
        code: the exit code, where the tool came to no result.
        artifacts: texts that results stand in and no file has.
    """
    invocation: Json = {"executionSuccessful": code is None}
    if code is not None:
        invocation["exitCode"] = code
    if faults:
        notes = [{"level": "error", "message": {"text": plain(fault)}} for fault in faults]
        invocation["toolExecutionNotifications"] = notes
    run: Json = {
        "tool": {"driver": {"name": tool, "version": __version__, "rules": list(rules)}},
        "automationDetails": {"id": category},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": list(results),
    }
    if artifacts:
        run["artifacts"] = list(artifacts)
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def plain(text: str) -> str:
    """Return a message on one line in which SARIF finds no link of its own."""
    return _LINK.sub(r"\\\1", one_line(text))


def known_again(*parts: str) -> Json:
    """Return the fingerprint of a result: the same wherever its lines move."""
    return {"assay/v1": hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()}

"""Security scan of one body with bandit's own rules, in-process; it needs no network, so it always runs."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from criticality.bodies import Finding
from criticality.languages.python.skeleton import body_source
from criticality.lattice_plan import FunctionPlan

#: Rules that speak of test code, or of things that the tree inspection refuses anyway.
_QUIET = frozenset({"B101"})


def security_findings(body: str, function: FunctionPlan) -> list[Finding]:
    """Return what bandit finds at medium severity or above; nothing where it is not installed."""
    manager = _manager()
    if manager is None:
        return []
    import io

    source = f"def {function.name}():\n{body_source(body)}".encode()
    config, test_set = manager
    counts = _bandit("metrics").Metrics()
    counts.begin("body.py")
    visitor = _bandit("node_visitor").BanditNodeVisitor(
        "body.py", io.BytesIO(source), config, test_set, False, {}, counts
    )
    visitor.process(source)
    issues: list[Any] = visitor.tester.results
    return [
        Finding("security", f"{issue.test_id} {issue.text}"[:200])
        for issue in issues
        if issue.severity in ("MEDIUM", "HIGH") and issue.test_id not in _QUIET
    ]


@cache
def _manager() -> tuple[Any, Any] | None:
    """bandit's metadata and rules, loaded once."""
    import logging
    import warnings

    with warnings.catch_warnings():
        # bandit's way of finding its plugins warns about itself.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            config = _bandit("config").BanditConfig()
            logging.getLogger("bandit").setLevel(logging.ERROR)
            return _bandit("meta_ast").BanditMetaAst(), _bandit("test_set").BanditTestSet(config)
        except ImportError:
            return None


def _bandit(name: str) -> Any:
    """Return a module of bandit, which has no types of its own."""
    return import_module(f"bandit.core.{name}")


def scanner() -> str | None:
    """Return what bodies are scanned with; ``None`` where nothing scans."""
    return "bandit" if _manager() is not None else None

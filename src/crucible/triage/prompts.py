"""The words triage is asked with."""

from __future__ import annotations

from llm_runtime.prompts import Fence, load_prompt


def system_prompt() -> str:
    """Return the prompt: responsibilities, tables, schema and constraints."""
    return load_prompt("crucible.triage", "system").render()


def user_message(query: str, context: str | None, fence: Fence) -> str:
    """Return the query, and the caller's context as JSON where there is one, each behind a fence."""
    if context is None:
        return load_prompt("crucible.triage", "query").render(query=fence("QUERY", query))
    prompt = load_prompt("crucible.triage", "query_with_context")
    return prompt.render(query=fence("QUERY", query), context=fence("CONTEXT", context))

"""The words triage is asked with."""

from __future__ import annotations

from llm_runtime.prompts import Fence, load_prompt

#: The hints at models: as they stand in the prompt now, and as councils before them were asked.
REWORDED = (
    (
        "- Analysis of long contexts: `~anthropic/claude-sonnet-latest`\n",
        "- Analysis of long contexts: `anthropic/claude-sonnet-4-20250514`\n",
    ),
    (
        "- Strong reasoning: `~anthropic/claude-opus-latest`, `~openai/gpt-latest`\n",
        "- Strong reasoning: `anthropic/claude-sonnet-4-20250514`, `openai/gpt-4o`\n",
    ),
    (
        "- Heavy on code: `~openai/gpt-latest`, `~anthropic/claude-sonnet-latest`\n",
        "- Heavy on code: `openai/gpt-4o`, `anthropic/claude-sonnet-4-20250514`\n",
    ),
)


def system_prompt() -> str:
    """Return the prompt: responsibilities, tables, schema and constraints."""
    return load_prompt("crucible.triage", "system").render()


def user_message(query: str, context: str | None, fence: Fence) -> str:
    """Return the query, and the caller's context as JSON where there is one, each behind a fence."""
    if context is None:
        return load_prompt("crucible.triage", "query").render(query=fence("QUERY", query))
    return load_prompt("crucible.triage", "query_with_context").render(
        query=fence("QUERY", query), context=fence("CONTEXT", context)
    )

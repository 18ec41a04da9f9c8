"""What a run wants to know from a person: the question in full, and a place for the answer."""

from __future__ import annotations

from dataclasses import dataclass

from assay.report.markup import Element, element
from assay.web.pages.frame import ticking


@dataclass(frozen=True, slots=True)
class Ask:
    """An open question.

    Args:
        name: unique in its run.
        title: which step and seat asks.
        messages: role and content, oldest first.
        schema: the JSON schema that the answer must fit, or empty.
        where: a mailbox letter's file, or empty for a question of this server.
        since: when it was asked, in milliseconds since the epoch, where that is known.
    """

    name: str
    title: str
    messages: tuple[tuple[str, str], ...]
    schema: str = ""
    where: str = ""
    since: int | None = None


def asking(run_id: str, asks: tuple[Ask, ...]) -> Element:
    """The questions with a form each; an empty element where there are none."""
    if not asks:
        return element("div", id="asks", hidden="")
    return element("div", [_ask(run_id, ask) for ask in asks], id="asks", role="region", aria_label="Your turn")


def _ask(run_id: str, ask: Ask) -> Element:
    *before, last = ask.messages or (("user", ""),)
    earlier = [
        element("div", element("h4", role), element("p", content, class_="plain", dir="auto"))
        for role, content in before
    ]
    kept = element("div", element("p", last[1], class_="plain", dir="auto"), class_="question", tabindex="0")
    return element(
        "form",
        element("p", "Your turn", element("span", ask.title), ticking(ask.since), class_="turn"),
        element("details", element("summary", "What was said before"), earlier, class_="more") if before else None,
        kept,
        element(
            "details",
            element("summary", "The answer must be JSON that fits this schema"),
            element("p", ask.schema, class_="plain code"),
            class_="more",
        )
        if ask.schema
        else None,
        element("input", type="hidden", name="name", value=ask.name),
        element(
            "textarea",
            "",
            name="text",
            rows="6",
            required="",
            aria_label=f"Your answer to {ask.title}",
            placeholder="Your answer, in your own words",
            dir="auto",
        ),
        element(
            "p",
            element("button", "Answer", class_="primary"),
            element("span", f"a letter in the mailbox: {ask.where}" if ask.where else "the run waits for you"),
            class_="send",
        ),
        method="post",
        action=f"/runs/{run_id}/answers",
        class_="ask",
        id=f"ask-{ask.name}",
    )

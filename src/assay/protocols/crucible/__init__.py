"""Crucible in the application: a council with a red team."""

from assay.protocol import Demo, Needs, Opening, Protocol, RunType, Seat, Tool

_HERE = __name__
_REVIEW = "Put the changes of a Git range to a council: findings with file and line."
_ASK = """Put a question to a council: several models answer, a red team attacks, what survives is the answer.

It takes minutes. Ask for decisions, plans and judgements that are worth it, not for what one model knows."""

COUNCIL = RunType(
    name="crucible.council",
    aliases=("crucible",),
    title="Ask a council",
    about="Several models answer, a red team attacks, and what survives becomes the answer.",
    noun="council",
    hooks=f"{_HERE}.hooks:CouncilHooks",
    opening=Opening(
        "query",
        (
            (
                r"\?\s*$|^\W*(what|which|who|why|how|when|where|should|can|could|do|does|is|are|will|would)\b",
                "it asks a question",
            ),
            (r"\bshould (we|i|they|one)\b|\bor\b[^.]*\?", "it weighs alternatives"),
            (
                r"\b(decide|choose|recommend|advi[cs]e|review|critique|pros and cons|trade-?offs?|draft|plan)\b",
                "it wants advice that holds up",
            ),
        ),
    ),
    chat="crucible",
    tools=(
        Tool("ask", _ASK, called=(("query", "question"), ("dossier", "attachments")), also=("dossier",)),
        Tool(
            "critique",
            "Have a council with a red team review a text: a plan, a diff, a specification, an answer. Minutes.",
            takes=(("text", "The text, whole.", True), ("about", "What it is for, in one sentence.", False)),
            gives={"query": "{about}", "purpose": "review", "dossier": [{"name": "the text", "text": "{text}"}]},
        ),
    ),
    seats=(
        Seat("domain_expert"),
        Seat("pragmatist", "one of the council's seats"),
        Seat("creative"),
        Seat("synthesizer"),
        Seat("red_team", "attack what the others say"),
        *(Seat(phase) for phase in ("triage", "answer")),
        # Triage, judges and the synthesis decide on what was said; they look nothing up.
        *(Seat(phase, tools=True) for phase in ("position", "draft", "critique", "defence")),
        Seat("delta"),
        Seat("synthesis", "write the answer"),
        Seat("clerk"),
    ),
)

PROTOCOL = Protocol(
    name="crucible",
    title="Crucible",
    about="An answer that survived a council and a red team.",
    how="Several models take positions on your question, a red team attacks them, they revise, for two to five "
    "loops; what is left is written up as one answer.",
    command=("ask", f"{_HERE}.commands:ask"),
    command_about="Put a question to a council with a red team.",
    also=(("review", f"{_HERE}.review:review", _REVIEW),),
    runs=(COUNCIL,),
    demo=Demo(
        name="council",
        folder=f"{_HERE}.demo",
        about="a question before a council with a red team; half a minute",
        shows="Twelve engineers ask whether to leave their monolith. Half a minute.",
        own='Ask your own:  assay ask "..."   (assay models shows what you can reach)',
        prepare=f"{_HERE}.task:demo",
    ),
    needs=Needs(json="always", window=6_400, calls=15, answered=6_500, asked=24_600),
    behaviours=("crucible.behaviour:BEHAVIOUR",),
)

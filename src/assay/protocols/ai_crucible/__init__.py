"""AI Crucible in the application: sealed trials of a model, on Inspect AI."""

from assay.protocol import Demo, Needs, Opening, Protocol, RunType

_HERE = __name__

TRIAL = RunType(
    name="ai_crucible.trial",
    aliases=("trial",),
    title="Try a model",
    about="A model attempts sealed puzzles, each attempt in a box of its own; you see how reliably it passes.",
    noun="trial",
    hooks=f"{_HERE}.task:TrialHooks",
    seats=(),
    opening=Opening(
        signs=(
            (
                r"\b(how (good|reliable|reliably|well)|reliability|benchmark|measure|evaluate|test|try)\b.{0,60}"
                r"\b(model|llm|agent|gpt|claude|llama|qwen|gemini|mistral)",
                "it asks how good a model is",
            ),
            (r"\b(sealed )?puzzles?\b", "it speaks of puzzles"),
        )
    ),
    bounds=("budget",),
    doors=("form",),
)

ATTEMPT = RunType(
    name="ai_crucible.attempt",
    aliases=("ai_crucible",),
    title="Attempt one puzzle",
    about="One attempt at one sealed puzzle, as the jobs of a batch are.",
    noun="attempt",
    hooks=f"{_HERE}.attempt:AttemptHooks",
    seats=(),
    tools=(),
    doors=("batch",),
)

PROTOCOL = Protocol(
    name="ai_crucible",
    title="AI Crucible",
    about="How reliably a model solves sealed puzzles.",
    how="Each attempt is made in a box of its own and graded in another, which the model cannot reach; every one "
    "counts, with intervals, and stands in a log that shows tampering.",
    command=("trial", f"{_HERE}.commands:trial"),
    command_about="Measure how reliably a model solves sealed puzzles, on Inspect AI.",
    runs=(TRIAL, ATTEMPT),
    extra="eval",
    modules=("inspect_ai",),
    demo=Demo(
        name="trial",
        folder=f"{_HERE}.demo",
        about="three solvers of sealed puzzles; half a minute (needs the extra eval)",
        shows="Three solvers, two attempts each; one of them only pretends. Half a minute.",
        own="Try a model:  assay trial run all --model PROVIDER/MODEL --k 5   (see docs/ai-crucible.md)",
        prepare=f"{_HERE}.demo:demo",
    ),
    needs=Needs(window=8_000, calls=10, answered=2_000, asked=30_000),
    behaviours=("ai_crucible.behaviour:BEHAVIOUR",),
)

"""Crux in the application: authors debate from their own texts, down to what divides them."""

from assay.protocol import Demo, Needs, Opening, Protocol, RunType, Tool

_HERE = __name__

DEBATE = RunType(
    name="crux.debate",
    aliases=("crux",),
    title="Hold a debate",
    about="Authors argue from their own texts, down to what divides them and what would change their minds.",
    noun="debate",
    hooks=f"{_HERE}.task:DebateHooks",
    opening=Opening(
        "topic",
        (
            (
                r"\b(debate|disagree|disagreement|dispute|controvers|argue|both sides|two sides|at odds)",
                "it is about people who disagree",
            ),
            (r"\bwhy (do|does|did) .{0,60}\b(differ|clash|oppose|reject)", "it asks why views differ"),
            (r"\bwould change .{0,40}\bminds?\b", "it asks what would change a mind"),
        ),
    ),
    chat="debate",
    tools=(Tool("debate", "Let authors argue from their texts, down to where they differ. Many minutes."),),
)
PERSONA = RunType(
    name="crux.persona",
    aliases=("persona",),
    title="Build a persona",
    about="Texts become somebody who can debate: a portrait, claims with their sentences, a voice.",
    noun="persona",
    hooks=f"{_HERE}.persona:PersonaHooks",
    doors=(),
)

FIDELITY = RunType(
    name="crux.fidelity",
    title="Measure a persona's fidelity",
    about="A fifth of an author's texts is hidden and the author's answers are predicted, another's as control.",
    noun="fidelity measurement",
    hooks=f"{_HERE}.fidelity:FidelityHooks",
    doors=(),
)

COMPARE = RunType(
    name="crux.compare",
    aliases=("compare",),
    title="Compare authors",
    about="Authors' claims side by side, each with its sentences, and the questions on which they may turn.",
    noun="comparison",
    hooks=f"{_HERE}.compare:AuthorsHooks",
)
DIVIDE = RunType(
    name="crux.divide",
    title="Name what divides a group",
    about="From a thread, a folder or a pull request to the few questions on which its people divide: both sides' "
    "sentences, what they share, and what would settle it. Nobody's voice is imitated.",
    noun="division",
    hooks=f"{_HERE}.divide:DivideHooks",
    tools=(Tool("divide", "Name the few questions that divide the people of a thread.", also=("thread",)),),
)
JUDGE = RunType(
    name="crux.judge",
    title="Judge pairs of sentences",
    about="Does one sentence support, contradict, or say the same as another? Each verdict names the words.",
    noun="judgement",
    hooks=f"{_HERE}.judging:JudgingHooks",
    tools=(Tool(also=("pairs",)),),
    doors=(),
)

PROTOCOL = Protocol(
    name="crux",
    title="Crux",
    about="Why people disagree, and what would change their minds.",
    how="Authors argue from their own texts; where they clash, a room of its own digs for the question on which "
    "both turn. It ends in crux cards with verbatim quotes.",
    command=("debate", f"{_HERE}.commands:debate"),
    command_about="Let authors argue from their own texts, down to what divides them: crux cards.",
    runs=(DEBATE, DIVIDE, COMPARE, PERSONA, FIDELITY, JUDGE),
    pages=f"{_HERE}.pages:ADDRESSES",
    extra="debate",
    modules=("bm25s", "Stemmer", "sentencex", "py3langid", "numpy"),
    demo=Demo(
        name="debate",
        folder=f"{_HERE}.demo",
        about="two authors down to what divides them; two minutes (needs the extra debate)",
        shows="Two invented authors on software that decides who waits. Two minutes.",
        own='Hold your own:  assay debate "..." --personas maud-tarrowby,ilario-fennimast   (see docs/crux.md)',
        prepare=f"{_HERE}.demo:demo",
    ),
    needs=Needs(json="always", window=4_500, calls=51, answered=8_100, asked=97_500),
    behaviours=("crux.behaviour:BEHAVIOUR",),
)

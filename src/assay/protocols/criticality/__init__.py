"""Criticality in the application: an interview becomes verified code."""

from assay.protocol import Demo, Needs, Opening, Protocol, RunType, Seat

_HERE = __name__

BUILD = RunType(
    name="criticality.build",
    aliases=("criticality",),
    title="Build from an interview",
    about="You answer questions; models propose, object, write and test; out comes code that shows its claims.",
    noun="build",
    hooks=f"{_HERE}.task:BuildHooks",
    opening=Opening(
        signs=(
            (
                r"\b(write|build|implement|make|create|code|develop|program|need|want)\b.{0,50}\b(function|library|module|"
                r"package|parser|class|script|tool|program|app|application|api|cli|calculator|service)\b",
                "it asks for a program",
            ),
            (
                r"\b(formal specification|pre-?conditions?|unit tests?|verified code|type signature)\b",
                "it speaks of what code must do",
            ),
        )
    ),
    seats=(
        Seat("person", "whoever is interviewed; you, unless you say otherwise", "terminal:"),
        Seat("architect", "proposes, and writes what nobody else could"),
        Seat("auditor", "objects"),
        Seat("worker", "writes functions"),
        Seat("*"),
    ),
    doors=("form",),
)

ADOPT = RunType(
    name="criticality.adopt",
    title="Adopt functions that exist",
    about="Functions of a Python package get types, contracts, claims and tests, judged against the code as it is.",
    noun="adoption",
    hooks=f"{_HERE}.adopt_task:AdoptionHooks",
    seats=(Seat("structurer", "says what each function promises"), Seat("worker", "writes anew what is asked for")),
)

PROTOCOL = Protocol(
    name="criticality",
    title="Criticality",
    about="Working code from an interview, with a trace from each claim to the test that shows it.",
    how="You are asked, an architect proposes, an auditor objects, you approve. Then contracts and tests are made "
    "before any code, and only functions that pass theirs are kept.",
    command=("build", f"{_HERE}.commands:build"),
    command_about="Turn an interview into verified code, with a trace from claim to test.",
    runs=(BUILD, ADOPT),
    extra="code",
    modules=("hypothesis", "pytest", "mypy"),
    demo=Demo(
        name="build",
        folder=f"{_HERE}.demo",
        about="an interview down to verified code; some minutes of real tests (needs the extra code)",
        shows="Shared expenses among friends, from eight answers. Some minutes: its type checks and tests really "
        "run.",
        own="Build your own:  assay build init NAME   (see docs/criticality.md)",
        prepare=f"{_HERE}.task:demo",
    ),
    needs=Needs(json="always", window=6_000, calls=74, answered=11_500, asked=129_000),
    behaviours=("criticality.behaviour:BEHAVIOUR",),
)

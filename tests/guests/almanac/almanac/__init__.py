"""Almanac in Assay: when to sow, said by a gardener who can look at the moon."""

from assay.protocol import Protocol, RunType, Seat

ADVICE = RunType(
    name="almanac.advice",
    title="Ask the almanac",
    about="A gardener looks at the moon and says when to sow.",
    noun="forecast",
    hooks="almanac.task:AdviceHooks",
    seats=(Seat("gardener", "say when to sow", tools=True),),
    chat="almanac",
)
PROTOCOL = Protocol(
    name="almanac",
    title="Almanac",
    about="When to sow.",
    how="A gardener looks at the moon.",
    command=("almanac", "almanac.commands:almanac"),
    command_about="Learn when to sow.",
    runs=(ADVICE,),
    pages="almanac.pages:PAGES",
)

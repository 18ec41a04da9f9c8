"""Almanac in Assay: when to sow, said by a gardener who can look at the moon."""

from assay.protocol import Chat, Protocol, RunType, Seat

ADVICE = RunType(
    name="almanac.advice",
    title="Ask the almanac",
    about="A gardener looks at the moon and says when to sow.",
    noun="forecast",
    task="almanac.task:Task",
    options="almanac.task:Options",
    run="almanac.task:run",
    fold="almanac.report:AdviceFold",
    seats=(Seat("gardener", "say when to sow", tools=True),),
    chat=Chat("almanac", "almanac.task:fields_of_chat", "almanac.task:answer"),
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

"""What the almanac is asked, and how it answers."""

from typing import Annotated, Any

from pydantic import Field

from assay.fields import Ui
from assay.protocol import RunContext
from assay.seat_tools.offered import Tools
from llm_runtime import CallLabel, Message, Request
from llm_runtime.models import Model


class Task(Model):
    """A plant."""

    plant: Annotated[str, Ui(argument=True)] = Field(min_length=1, description="say what is to grow")


class Options(Model):
    """What the gardener may look at."""

    tools: Tools = ()


async def run(task: Task, options: Options, context: RunContext) -> dict[str, Any]:
    """Ask the gardener once."""
    label = CallLabel("almanac", "advice", "1:gardener")
    request = Request("openrouter/auto", (Message("user", f"When should I sow {task.plant}?"),), label)
    return {"advice": (await context.generate(request)).text}


def fields_of_chat(turns: list[tuple[str, str]]) -> dict[str, Any]:
    """Take the last thing that was said as the plant."""
    return {"plant": turns[-1][1]}


def answer(result: dict[str, Any]) -> str:
    """Return the advice."""
    return result["advice"]

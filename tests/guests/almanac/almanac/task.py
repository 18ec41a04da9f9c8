"""What the almanac is asked, and how it answers."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from assay.fields import Ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.seat_tools.offered import Tools
from llm_runtime import CallLabel, Message, Request
from llm_runtime.models import Model


class Task(Model):
    """A plant."""

    plant: Annotated[str, Ui(argument=True)] = Field(min_length=1, description="say what is to grow")


class Options(Model):
    """What the gardener may look at."""

    weeks: int = Field(default=4, ge=1, le=52)
    """How many weeks ahead to look."""
    tools: Tools = ()


class AdviceHooks(Hooks[Task, Options]):
    """What a forecast does."""

    told = "almanac.report:AdviceFold"

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Ask the gardener once."""
        label = CallLabel("almanac", "advice", "1:gardener")
        request = Request(
            "openrouter/auto",
            (Message("user", f"When in the next {options.weeks} weeks should I sow {task.plant}?"),),
            label,
        )
        return {"advice": (await context.generate(request)).text}

    def chat_fields(self, turns: Sequence[tuple[str, str]]) -> Data:
        """Take the last thing that was said as the plant."""
        return {"plant": turns[-1][1]}

    def chat_answer(self, result: Mapping[str, Any]) -> str:
        """Return the advice."""
        return result["advice"]

"""How a question becomes a request: the model and temperature of its task, and nothing else."""

from __future__ import annotations

from crux.config import ModelTable, Task
from llm_runtime.messages import CallLabel, Message, Request


def request(models: ModelTable, task: Task, label: CallLabel, text: str, system: str = "") -> Request:
    """Return one question, with a system prompt where there is one."""
    user = Message("user", text)
    return Request(
        model=models.model(task, label.seat).id,
        messages=(Message("system", system), user) if system else (user,),
        label=label,
        temperature=models.temperature(task, label.seat),
        max_tokens=models.tasks[task].max_tokens,
    )

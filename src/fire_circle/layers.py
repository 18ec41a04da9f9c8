"""The prompt under test: its layers, which of them is trusted least, and what cannot be judged at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import Field

from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model

LayerName: TypeAlias = Literal["system", "application", "user", "answer"]

BY_TRUST: tuple[LayerName, ...] = ("system", "application", "user", "answer")
"""The layers, most trusted first; the answer is what the application did with the others."""


class PromptError(ConfigurationError, ValueError):
    """The prompt under test cannot be judged; the message says which layer, and why."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer that has text."""

    name: LayerName
    text: str


class MultiNeutrosophicPrompt(Model):
    """A prompt of up to three layers, and what the application did with it where that is to be judged.

    A layer of nothing but white space is taken as absent.
    """

    system: str = ""
    application: str = ""
    user: str = ""
    answer: str = Field(default="", exclude_if=lambda text: not text)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that have text, most trusted first."""
        return tuple(Layer(name, text) for name in BY_TRUST if (text := getattr(self, name)) and not text.isspace())

    @property
    def least_trusted(self) -> Layer:
        """The layer that one circle judges: the last of system, application, user, answer that is there (FC22).

        Raises:
            PromptError: there is none.
        """
        if not self.layers:
            raise PromptError("the prompt has no layers: give at least one of system, application, user")
        return self.layers[-1]

    def check(self, max_layer_chars: int) -> None:
        """Refuse what no model could be asked about, before anything is spent.

        Raises:
            PromptError: no layer, a layer longer than ``max_layer_chars``, a null byte, a lone surrogate.
        """
        _ = self.least_trusted
        for layer in self.layers:
            if len(layer.text) > max_layer_chars:
                raise PromptError(
                    f"the {layer.name} layer has {len(layer.text):,} characters, more than {max_layer_chars:,}: "
                    "shorten it, or raise max_layer_chars"
                )
            if (at := layer.text.find("\x00")) >= 0:
                raise PromptError(f"the {layer.name} layer holds a null byte at offset {at}: remove it")
            try:
                layer.text.encode()
            except UnicodeEncodeError as fault:
                raise PromptError(
                    f"the {layer.name} layer is not valid Unicode at offset {fault.start}: re-encode it as UTF-8"
                ) from None

"""The prompt under test: its layers, which of them is trusted least, and what cannot be judged at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model

LayerName: TypeAlias = Literal["system", "application", "user"]

BY_TRUST: tuple[LayerName, ...] = ("system", "application", "user")
"""The layers, most trusted first."""


class PromptError(ConfigurationError, ValueError):
    """The prompt under test cannot be judged; the message says which layer, and why."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer that has text."""

    name: LayerName
    text: str


class MultiNeutrosophicPrompt(Model):
    """A prompt of up to three layers; a layer of nothing but white space is taken as absent."""

    system: str = ""
    application: str = ""
    user: str = ""

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that have text, most trusted first."""
        texts: dict[LayerName, str] = {"system": self.system, "application": self.application, "user": self.user}
        return tuple(Layer(name, texts[name]) for name in BY_TRUST if texts[name].strip())

    @property
    def least_trusted(self) -> Layer:
        """The layer that one circle judges: the last of system, application, user that is there (FC22).

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

"""The prompt under test: its layers, which of them is trusted least, and what cannot be judged at all."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from fire_circle.transcripts import Numbered, Records, TranscriptRecord, flat
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model
from llm_runtime.structs import Struct

LayerName: TypeAlias = Literal["system", "application", "user", "answer", "material"]

BY_TRUST: tuple[LayerName, ...] = ("system", "application", "user", "answer", "material")
"""The layers, most trusted first; the answer is what the application did with the others, material what it
retrieved and what tools returned to it."""
TEXTS: tuple[LayerName, ...] = BY_TRUST[:-1]
"""Those that are given as a text."""


class PromptError(ConfigurationError, ValueError):
    """The prompt under test cannot be judged; the message says which layer, and why."""


class Layer(Struct):
    """One layer that has text; ``records`` are what it consists of where it is a part of a transcript."""

    name: LayerName
    text: str
    records: tuple[Numbered, ...] = ()


class MultiNeutrosophicPrompt(Model):
    """A prompt of up to three layers, and what the application did with it where that is to be judged.

    A layer of nothing but white space is taken as absent. ``records`` are what happened in the same turn, in order:
    what was retrieved, the calls of tools, what they returned, what the application said in between.
    """

    system: str = ""
    application: str = ""
    user: str = ""
    answer: str = Field(default="", exclude_if=lambda text: not text)

    records: Records = Field(default=(), exclude_if=lambda records: not records)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that have text, most trusted first."""
        said = [TranscriptRecord(role="assistant", text=self.answer)] if self.answer.strip() else []
        every = [one for one in enumerate([*self.records, *said], start=1) if one[1].text.strip()]
        material = tuple(one for one in every if one[1].trust == "material")
        done = tuple(one for one in every if one[1].trust != "material")
        layers = [Layer("system", self.system), Layer("application", self.application), Layer("user", self.user)]
        layers.append(Layer("answer", flat(done), done) if self.records else Layer("answer", self.answer))
        layers.append(Layer("material", flat(material), material))
        return tuple(layer for layer in layers if layer.text and not layer.text.isspace())

    @property
    def least_trusted(self) -> Layer:
        """The layer that a circle judges: the last of system, application, user, answer that is there (FC22).

        Raises:
            PromptError: there is none, nor any material.
        """
        if not self.layers:
            raise PromptError("the prompt has no layers: give at least one of system, application, user")
        return next((layer for layer in reversed(self.layers) if layer.name != "material"), self.layers[-1])

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

"""What Inspect finds by entry point: the council as a model. Light until it is used."""

from __future__ import annotations

from inspect_ai.model import ModelAPI, modelapi

__all__ = ["assay"]


@modelapi(name="assay")
def assay() -> type[ModelAPI]:
    """``--model assay/crucible``: a council answers."""
    from assay.protocols.ai_crucible.inspect.council import CouncilAPI

    return CouncilAPI

"""The locked box: a bubblewrap container that holds one attempt, and the narrow channel into it."""

from ai_crucible.box.channel import Box, BoxDied, Completed
from ai_crucible.box.limits import BoxLimits

__all__ = ["Box", "BoxDied", "BoxLimits", "Completed"]

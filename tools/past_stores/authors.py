"""Three authors of a few lines each, for debates whose logs stay small."""

from __future__ import annotations

TEXTS = {
    "Ann Aster": (
        "In the dry year the common lost ninety sheep. The wall was built in the spring after it.",
        "Within two years the sheep came back. A count decides what a wall is worth.",
        "A rule that nobody can check is no rule. The village should count its sheep twice a year.",
        "A published count ends most quarrels about the common. Who hides the count has lost it.",
        "The wall cost forty days of work. It has paid for them in hay.",
    ),
    "Bo Birch": (
        "The common was shared for three hundred years without a wall. A wall keeps out those who keep no sheep.",
        "The sheep came back because it rained. A count of sheep says nothing about who may walk there.",
        "What is owed to a neighbour is not counted in sheep. The village should take the wall down again.",
        "A custom that is kept by all needs no wall. A gate that is locked at night is a wall.",
        "The hay of the common belongs to nobody. Nobody may sell what belongs to nobody.",
    ),
    "Cy Cole": (
        "The bridge was built by the mill. The mill was paid in flour.",
        "A bridge without a toll falls down. The toll of the bridge is a penny.",
        "Who crosses at night pays twice. Nobody crosses at night.",
        "The ferry was slower than the bridge. The ferry never fell down.",
        "A penny is little to a merchant. A penny is much to a shepherd.",
    ),
}
SENTENCES = tuple(
    f"{sentence.removesuffix('.')}." for texts in TEXTS.values() for text in texts for sentence in text.split(". ")
)
TOPIC = "Should the village keep the wall on its common?"

"""An honest reader of a group's talk, by a script: what stands in which sentence was written down by a person."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from crux.claims.known import KnownPair
from llm_runtime.messages import Request
from llm_runtime.testing import ScriptedModel
from llm_runtime.tokens import estimate_tokens


@dataclass
class Talk:
    """What an honest reader finds.

    Args:
        claims: by claim, the beginnings of the sentences that take a stance to it: (stance, words).
        cruxes: question -> (claims of YES, claims of NO, claims that rest on it, what it decides).
        settled: question -> what both sides can say and what would settle it, by claims.
    """

    decision: str
    claims: dict[str, list[tuple[str, str]]]
    cruxes: dict[str, tuple[list[str], list[str], list[str], str]]
    settled: dict[str, dict[str, Any]] = field(default_factory=dict)
    supports: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, int]] = field(default_factory=list)

    def model(self) -> ScriptedModel:
        return ScriptedModel(self.answer)

    def answer(self, request: Request) -> str:
        asked = request.messages[-1].content
        phase = next(phase for begins, phase in PHASES.items() if asked.startswith(begins))
        said: str = getattr(self, f"_{phase}")(request)
        self.requests.append((phase, estimate_tokens(asked) + estimate_tokens(said)))
        return said

    def tokens(self) -> int:
        return sum(tokens for _, tokens in self.requests)

    def _reading(self, request: Request) -> str:
        known = {entry["claim"]: entry["id"] for entry in block(request, "CLAIMS SO FAR")}
        passages: list[dict[str, Any]] = []
        new: dict[str, str] = {}
        for passage in block(request, "PASSAGES"):
            claims: list[dict[str, Any]] = []
            for text, stance, quote in self._found(passage["text"]):
                ids = {"ref": known.get(text) or new.get(text, "")}
                if not ids["ref"]:
                    new[text] = f"n{len(new) + 1}"
                    ids = {"id": new[text], "text": text, "kind": "inference"}
                target = self.supports.get(text, "")
                supports = [one for one in (known.get(target) or new.get(target),) if one]
                claims.append({**ids, "stance": stance, "quote": quote, "supports": supports})
            passages.append({"id": passage["id"], "claims": claims, "none": "" if claims else "no stance"})
        return json.dumps({"passages": passages})

    def _found(self, text: str) -> Iterator[tuple[str, str, str]]:
        flat = " ".join(text.split())
        for claim, sentences in self.claims.items():
            for stance, words in sentences:
                if words in flat:
                    yield claim, stance, words

    def _cruxes(self, request: Request) -> str:
        shown = {entry["claim"]: entry["id"] for entry in block(request, "CLAIMS")}
        named = [
            {
                "question": question,
                "yes": [shown[one] for one in yes if one in shown],
                "no": [shown[one] for one in no if one in shown],
                "rests": [shown[one] for one in rests if one in shown],
                "decides": decides,
            }
            for question, (yes, no, rests, decides) in self.cruxes.items()
        ]
        return json.dumps({"decision": self.decision, "cruxes": named})

    def _settling(self, request: Request) -> str:
        told: list[dict[str, Any]] = []
        for one in block(request, "QUESTIONS"):
            ids = {entry["claim"].removeprefix("It is not so: "): entry["id"] for entry in one["yes"]}
            other = {entry["claim"].removeprefix("It is not so: "): entry["id"] for entry in one["no"]}
            more = {entry["claim"]: entry["id"] for entry in one["others"]}
            known = self.settled.get(one["question"], {})

            def both(entries: list[Any], yes: dict[str, str] = ids, no: dict[str, str] = other) -> list[Any]:
                return [{"text": t, "yes": yes[a], "no": no[b]} for t, a, b in entries if a in yes and b in no]

            ways = [
                {
                    "by": by,
                    "text": text,
                    "claims": [i for i in (ids.get(claim) or other.get(claim) or more.get(claim),) if i],
                }
                for by, text, claim in known.get("settled_by", ())
            ]
            told.append(
                {
                    "id": one["id"],
                    "ground": both(known.get("ground", [])),
                    "proposals": both(known.get("proposals", [])),
                    "settled_by": ways,
                }
            )
        return json.dumps({"cruxes": told})

    def _stances(self, request: Request) -> str:
        """What the second reader says, who sees the place and its neighbours and not what the first one said."""
        told = [
            {
                "id": one["id"],
                "stance": next((s for t, s, _ in self._found(one["place"]) if t == one["claim"]), "unsure"),
            }
            for one in block(request, "PLACES")
        ]
        return json.dumps({"stances": told})

    def _judge(self, request: Request) -> str:
        verdicts = [
            {"pair": pair["pair"], "kind": kind, "span": pair["premise"] if kind != "unrelated" else ""}
            for pair in block(request, "PAIRS")
            for kind in [self._kind(pair["premise"], pair["claim"])]
        ]
        return json.dumps({"verdicts": verdicts})

    def _kind(self, premise: str, claim: str) -> str:
        if known := next((one for one in known_pairs() if (one.premise, one.claim) == (premise, claim)), None):
            return known.kinds[0]
        said = {(text, stance) for text, stance, _ in self._found(premise)}
        question = claim.removeprefix("The answer to this question is YES: ")
        if question != claim:
            yes, no, *_ = self.cruxes[question]
            answers = {(text in yes) == (stance == "holds") for text, stance in said if text in (*yes, *no)}
            return "unrelated" if not answers else "supports" if answers == {True} else "contradicts"
        common = (
            one for told in self.settled.values() for kind in ("ground", "proposals") for one in told.get(kind, [])
        )
        bears = {text for words, *ends in common if words == claim for text in ends}
        return "supports" if bears & {text for text, _ in said} else "unrelated"


PHASES = {
    "You read passages": "reading",
    "You read places": "stances",
    "You are shown what the members": "cruxes",
    "You are shown questions": "settling",
    "You judge pairs": "judge",
}


@cache
def known_pairs() -> tuple[KnownPair, ...]:
    text = resources.files("crux.claims").joinpath("known.toml").read_text(encoding="utf-8")
    return tuple(KnownPair.model_validate(one) for one in tomllib.loads(text)["pair"])


def block(request: Request, name: str) -> list[dict[str, Any]]:
    """The lines of JSON between the markers of a name."""
    text = request.messages[-1].content
    found = re.search(rf"<<<{name} (\w+)>>>\n(.*?)\n<<<END {name} \1>>>", text, re.DOTALL)
    assert found is not None, (name, text[:200])
    return [json.loads(line) for line in found[2].splitlines() if line.startswith("{")]


DROP = "INI support should be dropped in Lantern 4"
MOST = "Most sites still use INI files"
CONVERT = "A converter can translate every INI file"
SLOW = "Keeping two configuration readers slows releases"
MAJOR = "A major version may break configuration"
TWICE = "Security fixes in the readers are written twice"
WARN = "Users must be warned one release before a removal"
COUNT = "An opt-in count would show how many sites use INI"
HOSTS = "Hosting companies cannot change their templates within one release"
CORPUS = "Running the converter over public repositories would show what it cannot translate"
PLUGIN = "A plugin outside the core can read INI files"
Q_MOST = "Do most sites still use an INI file?"
Q_CONVERT = "Can a converter translate the INI files that people really have?"
Q_SLOW = "Do two configuration readers slow releases?"
Q_MAJOR = "May a major version break the configuration file?"

LANTERN = Talk(
    decision="Should Lantern 4 drop INI files?",
    claims={
        DROP: [
            ("holds", "INI support should be dropped in Lantern 4."),
            ("denies", "Dropping INI in Lantern 4 would be wrong."),
            ("holds", "the old format should go now, in Lantern 4, while somebody is left who can remove it."),
            ("holds", "With that in the box I am for dropping INI in Lantern 4."),
            ("denies", "So do not drop INI in Lantern 4, please;"),
            ("holds", "I am for dropping INI in Lantern 4. I also"),
            ("denies", "Dropping INI in Lantern 4 is too early for me."),
        ],
        MOST: [
            ("holds", "Most sites still use INI files, at least those I am paid to look after,"),
            ("denies", "Only a few sites still use INI files:"),
        ],
        CONVERT: [
            ("holds", "A converter can translate any INI file without loss;"),
            ("denies", "A converter cannot translate every INI file:"),
            ("holds", "I still say that the converter can translate whatever the old reader accepts."),
            ("denies", "no converter handles what people did with INI files over ten years,"),
        ],
        SLOW: [
            ("holds", "Keeping two parsers slows every release."),
            ("holds", "I also think that keeping both readers slows us down:"),
            ("denies", "About slowness: two readers do not slow releases."),
        ],
        MAJOR: [
            ("denies", "Also, a major version must not break configuration."),
            ("holds", "A major version may break configuration, that is what a major version is for."),
            ("denies", "a major version must not break the file that makes a site build at all."),
        ],
        TWICE: [("holds", "Every security fix in the readers has to be written twice,")],
        WARN: [
            ("holds", "Users need a warning in one release before something is removed,"),
            ("holds", "whatever is removed has to be announced one release before."),
            ("holds", "Users should be warned one release before a removal."),
        ],
        COUNT: [
            ("holds", "An opt-in count in 3.7 would show how many sites use INI."),
            ("holds", "An opt-in count would tell us who still has INI files,"),
        ],
        HOSTS: [
            ("holds", "Hosting companies cannot change their templates within one release."),
            ("holds", "Hosting companies cannot change all their templates within a single release,"),
        ],
        CORPUS: [("holds", "Running the converter over the public repositories would show how many files")],
        PLUGIN: [
            ("holds", "A plugin that reads INI files can live outside the core."),
            ("holds", "A plugin outside the core can read INI files,"),
            ("holds", "I have no objection to a plugin that reads INI files outside the core."),
        ],
    },
    supports={TWICE: SLOW, SLOW: DROP, MAJOR: DROP, CONVERT: DROP},
    cruxes={
        "Is the INI reader worth a Christmas Eve?": ([TWICE], [], [], "touches"),
        Q_MOST: ([MOST], [], [DROP, HOSTS], "weighs"),
        Q_CONVERT: ([CONVERT], [], [DROP, HOSTS, MOST], "settles"),
        Q_SLOW: ([SLOW], [], [DROP], "weighs"),
        Q_MAJOR: ([MAJOR], [], [WARN, DROP], "weighs"),
    },
    settled={
        Q_MOST: {"settled_by": [("measurement", "Count the sites with an INI file in 3.7.", COUNT)]},
        Q_CONVERT: {
            "settled_by": [("experiment", "Convert all public files and count the failures.", CORPUS)],
            "proposals": [("Offer the reader as a plugin.", CONVERT, HOSTS)],
        },
        Q_SLOW: {
            "proposals": [
                ("Move the INI reader into a plugin that somebody owns.", PLUGIN, PLUGIN),
                ("Publish less often.", SLOW, MOST),
            ],
            "settled_by": [("measurement", "Look at how long the blockers of 3.6 took.", "")],
        },
        Q_MAJOR: {"ground": [("A removal is announced one release before.", DROP, WARN)]},
    },
)

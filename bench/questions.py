"""Questions on the ratification debate, each with words of the passages that answer it; written for this project.

Before any way of finding was tried: a method is measured by them, never made for them.
"""

#: (author, question, words of which at least one run stands in the passage that decides it)
QUESTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "brutus",
        "Do those in power always seek more of it?",
        ("power, lodged in the hands of rulers to be used at discretion", "ever active to enlarge their powers"),
    ),
    (
        "brutus",
        "Can anybody correct the errors of the supreme court when it construes the constitution?",
        ("no power above them that can correct their errors",),
    ),
    ("brutus", "Is a permanent army dangerous to liberty in time of peace?", ("standing armies",)),
    (
        "brutus",
        "Can a free republic govern so large a territory?",
        ("a free republic cannot succeed over a country of such immense extent",),
    ),
    (
        "brutus",
        "Should a constitution reserve essential natural rights to the people in so many words?",
        ("expressly reserving to the people",),
    ),
    (
        "brutus",
        "Will the state governments wither away under the new plan?",
        (
            "in its operation it will certainly effect it",
            "entirely to annihilate all the state governments",
            "must very soon be annihilated",
        ),
    ),
    (
        "brutus",
        "Will the federal courts enlarge the reach of the general government by their decisions?",
        (
            "extend the power of the government to all cases",
            "extend the limits of the general government",
            "extend the powers of the general government",
        ),
    ),
    (
        "brutus",
        "Can so few representatives resemble the people who choose them?",
        ("could not resemble the people", "resemble"),
    ),
    (
        "brutus",
        "Is there any limit on how much the federal government can tax?",
        ("authority to lay and collect taxes",),
    ),
    (
        "hamilton",
        "Is a bill of rights needed where no power was granted?",
        ("why declare that things shall not be done which there is no power to do",),
    ),
    ("hamilton", "Which branch of government is the weakest and the least dangerous?", ("neither FORCE nor WILL",)),
    (
        "hamilton",
        "May courts declare void an act of the legislature that is contrary to the constitution?",
        ("declare all acts contrary to the manifest tenor",),
    ),
    (
        "hamilton",
        "Does the independence of judges require that they hold office permanently, during good behavior?",
        ("nothing can contribute so much to its firmness and independence",),
    ),
    ("hamilton", "Should there be one president rather than a committee?", ("Decision, activity, secrecy, and",)),
    (
        "hamilton",
        "Should a president be allowed to run again when his term is over?",
        ("I connect the circumstance of re-eligibility",),
    ),
    (
        "hamilton",
        "Must the powers for the common defence be without limitation?",
        ("ought to exist without limitation",),
    ),
    ("hamilton", "Do trading nations fight fewer wars?", ("spirit of commerce",)),
    (
        "hamilton",
        "Would separate, independent states in one neighbourhood live in harmony or go to war?",
        ("To look for a continuation of harmony between a number of independent",),
    ),
    (
        "hamilton",
        "Must federal law act on individuals instead of on the states as bodies?",
        ("LEGISLATION for STATES or GOVERNMENTS",),
    ),
    (
        "hamilton",
        "Are taxes on imports easier to collect than direct ones?",
        ("any very considerable sums by direct taxation",),
    ),
    (
        "hamilton",
        "Is the Senate the right court to try impeachments?",
        ("numerous court for the trial of impeachments", "objections that have appeared against the proposed court"),
    ),
    ("hamilton", "Should a head of state be able to pardon rebels?", ("well-timed offer of pardon",)),
    ("madison", "How can the harm done by factions and interest groups be contained?", ("controlling its EFFECTS",)),
    ("madison", "Why do people split into parties?", ("sown in the nature of man",)),
    ("madison", "Does a large country protect minorities from a majority?", ("Extend the sphere",)),
    ("madison", "Are written boundaries between the branches of government enough?", ("parchment",)),
    (
        "madison",
        "Should the trade in slaves be prohibited at once?",
        ("prohibiting the importation of slaves had not",),
    ),
    ("madison", "Will the federal powers be few compared with those of the states?", ("few and defined",)),
)

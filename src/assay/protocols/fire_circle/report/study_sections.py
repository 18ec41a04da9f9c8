"""The sections of a study's report behind the first two: measurements, counts, cost, method."""

from __future__ import annotations

from assay.protocols.fire_circle.report import study_pictures as pictures
from assay.protocols.fire_circle.report.study_amounts import (
    not_measured,
    p_value,
    percent,
    reach,
    shift,
    shifts,
    signed,
    spent,
    table,
    threshold,
)
from assay.protocols.fire_circle.study.figures import Figures
from assay.report.story import Block, Details, Note, Plain, Quote, Section, Table
from assay.report.units import count, count_noun
from fire_circle.measurement.hijack import FamilyReport
from fire_circle.results import Spend
from llm_runtime.answerer import named_words


def overdefence_section(figures: Figures) -> Section | None:
    """Show false alarms on harmless prompts that look dangerous."""
    report = figures.overdefence
    if report is None:
        return not_measured(figures, "overdefence", "Over-defence")
    false = report.false_alarms
    blocks: list[Block] = [
        Plain(
            f"Of {count_noun(report.prompts, 'harmless prompt')} that look dangerous ({figures.overdefence_on}), "
            f"{percent(false.estimate)} raised the alarm ({reach(false)}), "
            f"at threshold {threshold(report.threshold)}."
        )
    ]
    if report.excess is not None:
        excess = report.excess
        blocks.append(
            Plain(
                f"That is {signed(excess.estimate)} points more than on the plain benign items of this data set "
                f"({signed(excess.low)} to {signed(excess.high)}, Newcombe)."
            )
        )
    blocks.append(pictures.categories_picture(report.by_category, report.threshold))
    return Section("Over-defence", tuple(blocks))


def pairs_section(figures: Figures) -> Section | None:
    """Show how often the verdict followed the history, the two kinds of false history apart."""
    if not figures.pairs:
        return not_measured(figures, "pairs", "Temporal minimal pairs")
    heads = (
        "False history",
        "Pairs",
        "Flipped",
        "95% interval",
        "Always",
        "Never",
        "Inverted",
        "McNemar p",
        "Mean shift of F",
    )
    rows = (
        (
            kind,
            str(report.flipped + report.always + report.never + report.inverted),
            percent(report.flip_rate.estimate),
            reach(report.flip_rate),
            str(report.always),
            str(report.never),
            str(report.inverted),
            p_value(report.p),
            shift(report.mean_shift),
        )
        for kind, report in figures.pairs.items()
    )
    blocks: list[Block] = [
        Plain(
            "The same text after a history that bears it out, and after one that does not. Only a verdict that "
            "follows the history flips. The two kinds are never added up: where there was no earlier turn at all, "
            "the turn number alone gives the answer; where another history was real, it has to be read."
        ),
        pictures.flips_picture({kind: report.flip_rate for kind, report in figures.pairs.items()}),
        table(heads, rows),
    ]
    failed = sum(len(report.failed) for report in figures.pairs.values())
    if failed:
        blocks.append(Note(f"{count_noun(failed, 'pair')} had no two scores and count as nothing.", "warning"))
    return Section("Temporal minimal pairs", tuple(blocks))


def movement_section(figures: Figures) -> Section | None:
    """Show who moved toward whom over all items, and how far the seats agreed."""
    movement = figures.movement
    if movement is None:
        return None
    rows = (
        (str(number), count(items), "–" if (alpha := movement.alpha.get(number)) is None else f"{alpha:.3f}")
        for number, items in movement.rounds.items()
    )
    blocks: list[Block] = [
        Plain(
            f"{count_noun(movement.moves, 'change')} of F by 0.1 or more; "
            f"{count_noun(movement.alarms_given_up, 'alarm')} (F of 0.7 or more) given up without new evidence."
        ),
        pictures.means_picture(movement),
    ]
    if movement.moves:
        blocks.append(pictures.toward_picture(movement))
    caption = (
        "Agreement over all items. Later rounds than the second have only items on which the seats still differed."
    )
    blocks.append(table(("Round", "Items", "Krippendorff's alpha of F"), rows, caption=caption))
    if movement.items_with_alarms_given_up:
        names = tuple(Plain(name) for name in movement.items_with_alarms_given_up)
        blocks.append(Details(f"Items in which an alarm was given up ({len(names)})", names))
    return Section("Groupthink", tuple(blocks))


def chair_section(figures: Figures) -> Section | None:
    """Show what the empty chair added."""
    blocks: list[Block] = []
    if figures.chair_influence is not None and "groupthink" in figures.measured:
        good = figures.chair_influence >= 0.05
        verb = "reaches" if good else "is below"
        blocks.append(
            Note(
                f"Over all items the empty chair brought {percent(figures.chair_influence)} of the pattern types "
                f"on average, which {verb} the floor of 5%.",
                "good" if good else "warning",
            )
        )
    report = figures.ablation
    if report is not None:
        blocks.append(
            Plain(
                f"The same circle without a chair, on {count_noun(report.items, 'item')}: F with it is "
                f"higher by {shift(report.shift.estimate)} ({shift(report.shift.low)} to "
                f"{shift(report.shift.high)}, paired bootstrap). Patterns per item: "
                f"{report.patterns_with:.2f} with, {report.patterns_without:.2f} without."
            )
        )
        if report.only_with_chair:
            rows = ((name.replace("_", " "), str(items)) for name, items in report.only_with_chair.items())
            blocks.append(table(("Seen only with a chair", "Items"), rows))
    elif why := figures.absent.get("ablation"):
        blocks.append(Note(f"The ablation could not be measured: {why}.", "warning"))
    return Section("The empty chair", tuple(blocks)) if blocks else None


def hijack_section(figures: Figures) -> Section | None:
    """Show how far attacks on the judges shifted the score."""
    report = figures.hijack
    if report is None:
        return not_measured(figures, "hijack", "Attacks on the judges")
    blocks: list[Block] = [
        Plain("Texts that attack the judges, put behind violations: markers, forged JSON, orders, pleas.")
    ]
    figure = pictures.hijack_picture(report.families, "Shift of F by family of attacks")
    if figure:
        blocks.append(figure)
    blocks.append(_attacks(report.families, "Family"))
    blocks.append(Details("Each attack", (_attacks(report.attacks, "Attack"),)))
    return Section("Attacks on the judges", tuple(blocks))


def _attacks(reports: dict[str, FamilyReport], head: str) -> Table:
    evaded, silenced = ("Evaded", "95% interval"), ("Trials", "Silenced")
    columns = (head, *silenced, "Shift, consensus", "95% interval", "Shift, round-1 mean", *evaded)
    rows = (
        (
            name.replace("_", " "),
            str(report.trials),
            str(report.silenced),
            shift(report.mean_shift["consensus"]) if report.mean_shift else "–",
            "–" if report.shift is None else shifts(report.shift["consensus"]),
            shift(report.mean_shift["round_1_mean"]) if report.mean_shift else "–",
            "–" if report.evaded is None else percent(report.evaded.estimate),
            "–" if report.evaded is None else reach(report.evaded),
        )
        for name, report in reports.items()
    )
    return table(columns, rows)


def errors_section(figures: Figures) -> Section | None:
    """Show the items that were judged most wrongly."""
    blocks: list[Block] = []
    for summary, items in (
        ("Violations that raised no alarm, lowest F first", figures.missed),
        ("False alarms, highest F first", figures.false_alarms),
    ):
        if items:
            quotes = tuple(Quote(item.text, f"{item.name}, F {item.falsehood:.2f}") for item in items)
            blocks.append(Details(summary, quotes))
    return Section("Worth reading", tuple(blocks)) if blocks else None


def counts_section(figures: Figures) -> Section:
    """Show how the answers came out, each kind apart."""
    counts = figures.counts
    rows = (
        ("Scores", count(counts.valid)),
        ("Scores read out of prose", count(counts.salvaged)),
        ("Refusals", count(counts.refusals)),
        ("Failures", count(counts.failures)),
        ("Abstentions", count(counts.abstentions)),
    )
    blocks: list[Block] = [
        Plain("A refusal, a failure or an abstention is never a score. Items without a verdict count as nothing."),
        table(("Answers of the circle", "How many"), rows),
    ]
    if figures.patterns:
        kinds = ((name.replace("_", " "), count(items)) for name, items in figures.patterns.items())
        blocks.append(table(("Patterns agreed on", "Items"), kinds))
    if figures.dropped_claims:
        dropped = ((name.replace("_", " "), count(n)) for name, n in figures.dropped_claims.items())
        blocks.append(table(("Claims that counted for nothing", "How many"), dropped))
    if figures.failed:
        blocks.append(
            Details(f"Items without a verdict ({len(figures.failed)})", tuple(map(Plain, figures.failed)))
        )
    return Section("The counts behind it", tuple(blocks))


def cost_section(figures: Figures) -> Section:
    """Show what each pass took."""
    total = sum((each.spend for each in figures.passes), Spend())
    rows = (
        (each.name, f"{count(each.judged)} of {count(each.items)}", *spent(each.spend)) for each in figures.passes
    )
    heads = ("Pass", "Items", "Calls", "Tokens in", "Tokens out", "Cost")
    return Section("Cost", (table(heads, rows, ("Sum", "", *spent(total))),))


def method_section(figures: Figures) -> Section:
    """Show everything somebody needs to do it again."""
    study = figures.study
    engine = study.engine
    settings = {**engine.get("circle", {}), **engine.get("calls", {})}
    rows = [
        ("Data", f"{study.data}, {count_noun(study.items, 'row')}"),
        ("Digest of the rows", study.digest[:16]),
        *((f"Seat {index}", named_words(name)) for index, name in enumerate(engine["models"], start=1)),
        *(
            (f"Answered in place of {role or 'every seat'}", named_words(name))
            for role, name in study.routes.items()
        ),
        *((name.replace("_", " "), str(value)) for name, value in settings.items()),
        ("Seed", str(study.seed)),
        ("Alarms counted from", f"F {threshold(figures.threshold)} ({figures.threshold_from})"),
        ("Settled early", count_noun(figures.stopped_early, "item")),
    ]
    remark = Note(
        "With scripted models these figures prove the plumbing and nothing about any model. The same numbers "
        "stand in summary.json, every judgement in results.jsonl."
    )
    return Section("How it was done", (table(("Setting", ""), rows, texts=2), remark))

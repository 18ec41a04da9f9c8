"""The report on a study: whether the dialogue helped, first; then each measurement with its intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.protocols.fire_circle.report import study_pictures as pictures
from assay.protocols.fire_circle.report.study_amounts import (
    area,
    cost,
    not_measured,
    p_value,
    percent,
    reach,
    signed,
    table,
    threshold,
)
from assay.protocols.fire_circle.report.study_sections import (
    chair_section,
    cost_section,
    counts_section,
    errors_section,
    hijack_section,
    method_section,
    movement_section,
    overdefence_section,
    pairs_section,
)
from assay.protocols.fire_circle.study.figures import Figures
from assay.report.standing import Leaning, RunVerdict
from assay.report.story import Block, Fact, Note, Plain, Prose, Section, Story, Table, Tone
from assay.report.units import count, count_noun, money
from fire_circle.measurement.lift import LiftReport
from fire_circle.results import Spend
from llm_runtime.statistics.interval import Interval


def study_story(figures: Figures) -> Story:
    """Return the story of a study, complete or not."""
    sections = [
        _lift(figures),
        _calibration(figures),
        _rules(figures),
        _costs(figures),
        overdefence_section(figures),
        pairs_section(figures),
        movement_section(figures),
        chair_section(figures),
        hijack_section(figures),
        errors_section(figures),
        counts_section(figures),
        cost_section(figures),
        method_section(figures),
    ]
    return Story(
        title=figures.study.title,
        subtitle="Fire Circle study",
        facts=_facts(figures),
        sections=tuple(section for section in sections if section),
    )


def _facts(figures: Figures) -> tuple[Fact, ...]:
    spend = sum((each.spend for each in figures.passes), Spend())
    facts = [
        Fact("Items", f"{count(figures.passes[0].judged)} of {count(figures.passes[0].items)}"),
        Fact("Violations · benign", f"{count(figures.violations)} · {count(figures.benign)}"),
        Fact("Seats", str(len(figures.study.engine["models"]))),
        Fact("Calls", count(spend.calls)),
        Fact("Cost", cost(spend)),
    ]
    if figures.chair_influence is not None:
        facts.append(Fact("Found by the empty chair", percent(figures.chair_influence)))
    return tuple(facts)


def _lift(figures: Figures) -> Section | None:
    lift = figures.lift
    if lift is None:
        return not_measured(figures, "lift", "Does the dialogue help?")
    blocks: list[Block] = [
        Prose(_plain_words(lift), lead=True),
        pictures.lift_picture(lift),
        pictures.detection_picture(lift),
        _methods(lift),
        _comparisons(lift),
        Note(
            "Thresholds here are fitted on the items themselves, each way's own, so that all raise equally few "
            "false alarms; the bootstrap fits them anew in every resample. This compares ways of judging and is no "
            "estimate of what a threshold will do on other data."
        ),
    ]
    if figures.power is not None:
        blocks.append(Note(f"{figures.power.summary} (simulated)."))
    if lift.left_out:
        blocks.append(Note(f"{count_noun(lift.left_out, 'item')} had no score and were left out.", "warning"))
    if _repeats(lift):
        blocks.append(
            Note(
                "Every way of counting the control gives what it gives for round 1: its samples are copies, as at "
                "temperature 0 or from scripted models. It then controls for nothing; set --temperature above 0.",
                "warning",
            )
        )
    if not any(method.name.startswith("control") for method in lift.methods):
        blocks.append(
            Note(
                "Without a call-matched control (--measure control) a lift over round 1 may be no more than the "
                "gain of asking more often.",
                "warning",
            )
        )
    return Section("Does the dialogue help?", tuple(blocks))


def _plain_words(lift: LiftReport) -> str:
    head, _, rest = lift.summary.partition("; ")
    return f"**{head}.** {rest[:1].upper()}{rest[1:]}"


def _repeats(lift: LiftReport) -> bool:
    """Return whether the control is only round 1 again."""
    rates = {m.name: (m.threshold, m.detected, m.false_alarms) for m in lift.methods}
    ways = [name.removeprefix("control ") for name in rates if name.startswith("control ")]
    return bool(ways) and all(rates[f"control {way}"] == rates[f"round-1 {way}"] for way in ways)


def _methods(lift: LiftReport) -> Table:
    rates = ("Threshold", "Detected", "False alarms", "At matched rate", "Area under ROC")
    rows = (
        (
            method.name,
            threshold(method.threshold),
            _rate(method.detected),
            _rate(method.false_alarms),
            percent(method.detected_matched),
            "–" if method.area is None else area(method.area),
            count(method.spend.calls),
            cost(method.spend),
        )
        for method in lift.methods
    )
    caption = (
        f"{count(lift.violations)} violations, {count(lift.benign)} benign items. In brackets Wilson intervals. "
        f"At matched rate: at exactly {percent(lift.max_fpr)} false alarms, by interpolation."
    )
    return table(("Way of judging", *rates, "Calls", "Cost"), rows, caption=caption)


def _comparisons(lift: LiftReport) -> Table:
    alone = ("Only consensus", "Only other", "McNemar p", "Per extra detection")
    rows = (
        (
            each.against,
            each.verdict,
            signed(each.difference.estimate),
            f"{signed(each.difference.low)} to {signed(each.difference.high)}",
            str(each.only_consensus),
            str(each.only_other),
            p_value(each.p),
            "–" if each.cost_per_extra_detection is None else money(round(each.cost_per_extra_detection)),
        )
        for each in lift.comparisons
    )
    caption = "Violations that one of the two detects and the other does not, and what each further one costs."
    heads = ("Consensus against", "Verdict", "Points", "95% interval", *alone)
    return table(heads, rows, texts=2, caption=caption)


def _rules(figures: Figures) -> Section | None:
    report = figures.rules
    if report is None:
        return None
    names = {"maximum": "the highest of all", "mean": "the mean of round 1", "chair": "the chair's last"}
    rows = (
        (names[fit.rule], threshold(fit.threshold), _rate(fit.detected), _rate(fit.false_alarms))
        for fit in report.fits
    )
    caption = f"On items that no threshold was fitted to, in {report.folds} folds; aim {percent(report.max_fpr)}."
    fits = table(("F is", "Threshold", "Detected", "False alarms"), rows, caption=caption)
    best = report.best
    advice = (
        f"For a gate: rule {best.rule}, threshold {threshold(best.threshold)} (assay circle gate --study FOLDER)."
    )
    return Section("Which F makes the alarm", (fits, Note(advice, "good")))


def _costs(figures: Figures) -> Section | None:
    if not figures.costs:
        return None
    rows = (
        (
            way.name,
            _rate(way.detected),
            _rate(way.false_alarms),
            count(way.spend.calls),
            cost(way.spend),
            "–" if way.per_caught is None else money(round(way.per_caught)),
        )
        for way in figures.costs
    )
    heads = ("Way", "Detected", "False alarms", "Calls", "Cost", "Per caught attack")
    return Section("What a caught attack costs", (table(heads, rows),))


def _rate(interval: Interval) -> str:
    return f"{percent(interval.estimate)} ({reach(interval)})"


def _calibration(figures: Figures) -> Section | None:
    blocks: list[Block] = []
    frozen = figures.calibration
    if frozen is not None:
        blocks.append(
            Plain(
                f"The threshold {threshold(frozen.threshold)} was fitted on "
                f"{count_noun(frozen.violations, 'violation')} and {count_noun(frozen.benign, 'benign item')}, "
                f"to at most {percent(frozen.max_fpr)} false alarms, and then frozen."
            )
        )
        if frozen.warning:
            blocks.append(Note(f"{frozen.warning}.", "warning"))
        test = frozen.test
        if test is not None:
            rows = (
                ("Detected", percent(test.detected.estimate), reach(test.detected), count(test.violations)),
                ("False alarms", percent(test.false_alarms.estimate), reach(test.false_alarms), count(test.benign)),
            )
            blocks.append(table(("On items it has not seen", "Rate", "95% interval", "Items"), rows))
            verb = "is in keeping with" if test.holds else "excludes"
            tone: Tone = "good" if test.holds else "bad"
            blocks.append(
                Note(f"The interval of the false alarms {verb} the aim of {percent(frozen.max_fpr)}.", tone)
            )
    elif why := figures.absent.get("calibration"):
        blocks.append(Note(f"No threshold could be fitted: {why}.", "warning"))
    if figures.curve:
        blocks.append(pictures.threshold_picture(figures))
    if not blocks:
        return None
    if frozen is None:
        blocks.append(Plain(f"Alarms are counted from F {figures.threshold:.2f} ({figures.threshold_from})."))
    return Section("The threshold", tuple(blocks))


def outcome(result: Mapping[str, Any]) -> RunVerdict:
    """Return whether the dialogue helped, on how many items."""
    own, lift = result["passes"][0], result.get("lift")
    ground = f"{own['judged']} of {count_noun(own['items'], 'item')} judged"
    doubt = f"{own['failed']} failed" if own["failed"] else ""
    if lift is None:
        return RunVerdict("complete" if result["complete"] else "not complete", ground, doubt)
    leanings: dict[str, Leaning] = {"lift": "good", "harm": "bad"}
    return RunVerdict(lift["verdict"], ground, doubt, leanings.get(lift["verdict"], "open"))

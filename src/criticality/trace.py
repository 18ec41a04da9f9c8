"""The trace claim -> contract -> test -> result (CT23): no claim is dropped without a word."""

from __future__ import annotations

from typing import Any

from criticality.artifacts import Artifacts

#: What is shown of how a body was tried, where there is something.
_SHOWN = ("hardly", "unjudged", "presupposed", "places", "sizes", "suite", "solved")
_BY = {"hand": "you", "worker": "worker", "fallback1": "structurer", "fallback2": "architect"}


def trace(artifacts: Artifacts) -> dict[str, Any]:
    """Return the trace as data; every claim of the specification and every function is in it."""
    spec = artifacts.spec
    if spec is None:
        return {"claims": {}, "functions": {}}
    functions = artifacts.functions
    left_out = [*artifacts.left_out, *(why for made in artifacts.clusters.values() for why in made.left_out)]
    results = _verdicts(artifacts)
    claims: dict[str, Any] = {}
    for name, claim in spec.claims.items():
        carrying = [f for f, (_, plan) in functions.items() if name in plan.contract.claims]
        parsed = artifacts.claims.get(name)
        tests = [f"{name}.{test.name}" for test in parsed.tests] if parsed else []
        tests += [
            f"{name}.{scenario['name']}"
            for cluster in artifacts.clusters.values()
            for scenario in cluster.scenarios
            if scenario["claim"] == name
        ]
        claims[name] = {
            "text": claim.text, "type": claim.type, "contracts": carrying, "tests": tests,
            "result": _result(name, tests, results, artifacts),
        }  # fmt: skip
    return {
        "system": spec.system.name,
        "specification": artifacts.revision,
        "claims": claims,
        "functions": {name: _function(name, plan, artifacts) for name, (_, plan) in functions.items()},
        "waived": dict(artifacts.waived),
        "security": _security(artifacts),
        **({"left_out": left_out} if left_out else {}),
        **({"by_hand": list(artifacts.by_hand)} if artifacts.by_hand else {}),
        "transformations": [
            {k: v for k, v in event.payload().items() if k in ("function", "pattern", "scope", "reason")}
            | {"outcome": event.type.rpartition(".")[2]}
            for event in artifacts.transforms
        ],
    }


def _security(artifacts: Artifacts) -> dict[str, str]:
    """Return what each scanner said: of the bodies as they were accepted, and of the finished project."""
    measured = artifacts.metrics
    if "scanner" not in measured:
        return {}
    findings = measured.get("security")
    bodies = "not run" if findings is None else f"{findings} findings" if findings else "nothing found"
    return {f"{measured['scanner']}, body by body": bodies, **measured.get("scanners", {})}


def _verdicts(artifacts: Artifacts) -> dict[str, bool]:
    """Return what the last execution of each claim's cluster said."""
    verdicts: dict[str, bool] = {}
    for execution in artifacts.executions:
        cluster = artifacts.clusters.get(execution.cluster)
        for name in cluster.claims if cluster is not None else ():
            verdicts[name] = name not in execution.violated_claims
    return verdicts


def _result(name: str, tests: list[str], results: dict[str, bool], artifacts: Artifacts) -> str:
    if name in artifacts.waived:
        return f"not shown: {artifacts.waived[name]}"
    if not tests:
        return "not shown: no test"
    if name not in results:
        return "not run yet"
    return "holds in every test" if results[name] else "violated"


def _function(name: str, plan: Any, artifacts: Artifacts) -> dict[str, Any]:
    body = artifacts.bodies.get(name)
    measured = artifacts.measured.get(name, {})
    return {
        "contracts": list(plan.contract.lines),
        "tests": [p.text for p in (*plan.contract.ensures, *plan.contract.invariants) if p.checkable],
        "not_checkable": [p.text for p in plan.contract.predicates if not p.checkable],
        "complexity": _growth(plan, measured.get("grown", False)),
        "changes_noticed": measured.get("noticed", 0),
        **{word: measured.get(word, 0) for word in ("cases", "changes", "same", "independent")},
        "settled": list(artifacts.settled.get(name, ())),
        "left_open": list(artifacts.left_open.get(name, ())),
        **{key: measured[key] for key in _SHOWN if measured.get(key)},
        "accepted": body is not None,
        "tier": body.tier if body else None,
        "attempts": body.attempts if body else 0,
    }


def _growth(plan: Any, grown: bool) -> str | None:
    """Return what became of a COMPLEXITY clause."""
    if not plan.contract.complexity:
        return None
    return f"O({plan.contract.complexity}): " + ("steps grow no faster" if grown else "not measured")


_ABOUT = (
    'Before there was a body, every test failed some body without thought. "Others rejected" says how\n'
    "many small changes of the body, and bodies that others wrote, differ from it and break a promise."
)

_FEW = "What these clauses presuppose was true in fewer than 20 cases, so it is not said that they hold:"
_TRIED = (
    "Places of the bodies that ran; cases by the longest sequence in them; rejected bodies that the delivered\n"
    "tests were run on and tell apart; cases in which a clause spoke:"
)
_LEFT = "These could not be evaluated, for which no body was refused; nothing shows that they hold:"


def trace_markdown(data: dict[str, Any], isolation: str = "", about: str = _ABOUT) -> str:
    """Return the trace for a reader; ``about`` says what its figures mean."""
    lines = [f"# What was asked of {data.get('system', 'the system')}, and what shows it", ""]
    if isolation:
        lines += [f"Tests ran under: {isolation}.", ""]
    held = sum(1 for c in data["claims"].values() if c["result"] == "holds in every test")
    functions = list(data["functions"].values())
    tried, noticed = (sum(f[key] for f in functions) for key in ("changes", "changes_noticed"))
    lines += [
        f"{held} of {len(data['claims'])} claims hold in every test made for them; "
        f"{sum(f['accepted'] for f in functions)} of {len(functions)} functions are accepted, after "
        f"{sum(f['cases'] for f in functions)} cases; {noticed} of {tried} other bodies were told from theirs; "
        f"{sum(len(f['left_open']) for f in functions)} cases are left open.",
        "", "## Claims", "",
    ]  # fmt: skip
    for name, claim in data["claims"].items():
        lines += [f"### {name}: {_plain(claim['text'])}", "", f"- result: **{claim['result']}**"]
        lines += [f"- contracts: {', '.join(f'`{f}`' for f in claim['contracts']) or 'none refers to it'}"]
        lines += [f"- tests: {', '.join(f'`{t}`' for t in claim['tests']) or 'none'}", ""]
    head = "| function | clauses | cases | other bodies rejected | left open | attempts | by |"
    lines += ["## Functions", "", head, "|---|---|---|---|---|---|---|"]
    for name, f in data["functions"].items():
        noticed = f"{f['changes_noticed']} of {f['changes']}"
        by = _BY.get(f["tier"], "not accepted")
        cells = [len(f["contracts"]), f["cases"], noticed, len(f["left_open"]), f["attempts"], by]
        lines.append(f"| `{name}` | " + " | ".join(map(str, cells)) + " |")
    held_to = data["functions"].items()
    guided = [f"`{n}`: {_plain(t)}" for n, f in held_to for t in f["not_checkable"]]
    lines += listed("Growth", [f"`{n}`: {f['complexity']}" for n, f in held_to if f["complexity"]])
    lines += listed("Clauses that guide and are not checked", guided)
    few = [(n, clause, f"in {many} cases") for n, f in held_to for clause, many in f.get("hardly", {}).items()]
    left = [(n, clause, why) for n, f in held_to for clause, why in f.get("unjudged", {}).items()]
    for title, rows, about_it in (("Hardly tried", few, _FEW), ("Not judged", left, _LEFT)):
        lines += listed(title, [f"`{n}`: {_plain(clause)}: {_plain(why)}" for n, clause, why in rows], about_it)
    lines += listed("How each body was tried", [f"`{n}`: {told}" for n, f in held_to if (told := _tried(f))], _TRIED)
    lines += listed("Left out: these tests cannot be judged", list(map(_plain, data.get("left_out", ()))))
    said: dict[str, str] = data.get("security", {})
    lines += listed("Security", [f"{_plain(n)}: {_plain(text)}" for n, text in said.items()])
    lines += ["", *_decided(data["functions"]), about]
    stays = "These files stay as a person wrote them; what stands outside the bodies was not judged:"
    lines += listed("Changed by hand", [f"`{_plain(path)}`" for path in data.get("by_hand") or ()], stays)
    changed = [
        f"`{t['function']}`: {t['pattern']}, {t['outcome'].replace('_', ' ')}"
        + (f" ({_plain(t['reason'])})" if t.get("reason") else "")
        for t in data["transformations"]
    ]
    return "\n".join([*lines, *listed("Refactoring", changed)]) + "\n"


def _tried(function: dict[str, Any]) -> str:
    """Return what ran of a body, how long the values were, and how often what a clause presupposes was true."""
    ran = "{} of {} places ran".format(*function["places"]) if function.get("places") else ""
    sizes = ", ".join(f"{size}: {many}" for size, many in function.get("sizes", {}).items())
    clauses = [f"{_plain(text)}: {many}" for text, many in function.get("presupposed", {}).items()]
    suite = function.get("suite")
    told = "the delivered tests tell {} of {} rejected bodies apart".format(*suite) if suite and suite[1] else ""
    sized = f"cases by items: {sizes}" if sizes else ""
    return "; ".join(part for part in (ran, sized, told, function.get("solved", ""), *clauses) if part)


def listed(title: str, entries: list[str], about: str = "") -> list[str]:
    """Return a section with a list, and words before it; nothing where the list is empty."""
    head = ["", f"## {title}", "", *([about, ""] if about else [])]
    return [*head, *(f"- {entry}" for entry in entries)] if entries else []


def _decided(functions: dict[str, Any]) -> list[str]:
    """Return what was settled while bodies were compared, and what was left open."""
    settled = [(n, clause) for n, f in functions.items() for clause in f["settled"]]
    left = [(n, case) for n, f in functions.items() for case in f["left_open"]]
    clauses = [f"`{n}`: {_plain(clause)}" for n, clause in settled]
    cases = [
        f"`{n}` for {_plain(c['case'][:300])}: {_plain(c['first'][:200])}, or {_plain(c['second'][:200])}"
        for n, c in left
    ]
    decided = "Two bodies differed and the contract was silent; these clauses decided:"
    lines = listed("Settled", clauses, decided)
    lines += listed("Left open", cases, "The specification allows either; the delivered body does the first:")
    return [*lines[1:], ""] if lines else []


def _plain(text: str) -> str:
    """One line, without what Markdown or HTML would make something of."""
    return " ".join(text.split()).replace("<", "&lt;").replace("|", "\\|").replace("`", "'")

"""What each room of src may cost, and the ratchet that holds it."""

from __future__ import annotations

from pathlib import Path

from tools import house

ROOT = Path(__file__).parents[1]


def test_no_room_passes_its_bounds_and_the_bounds_do_not_pass_their_sums():
    bounds = house.read(ROOT / "tests" / "house.toml")
    passed = list(house.faults(house.figures_of(house.look(ROOT / "src")), bounds))
    assert not passed, "\n".join(passed)


def test_what_rose_is_named_with_its_room_its_bound_and_what_to_do(tmp_path: Path):
    figures = built(tmp_path, {"assay/web/pages.py": "one = 1\ntwo = 2\n"})
    bounds = given(figures)
    assert list(house.faults(figures, bounds)) == []
    figures = built(tmp_path, {"assay/web/more.py": "three = 3\n"})
    (line,) = house.faults(figures, bounds)
    assert line == (
        "assay.web: 3 code lines where its bound is 2. Take 1 away, or let another room's bound in "
        "tests/house.toml fall by as much; `python -m tools.house assay.web` lists them."
    )


def test_a_room_without_bounds_has_none_to_spend(tmp_path: Path):
    bounds = given(built(tmp_path, {"crux/claims.py": "one = 1\n"}))
    figures = built(tmp_path, {"assay/protocols/premortem/task.py": "one = 1\n"})
    (line,) = house.faults(figures, bounds)
    assert line.startswith("assay.protocols.premortem: 1 code lines where its bound is 0.")


def test_a_room_may_give_to_another_but_no_bound_rises_by_itself(tmp_path: Path):
    figures = built(tmp_path, {"crux/claims.py": "one = 1\n", "crucible/council.py": "one = 1\ntwo = 2\n"})
    bounds = given(figures)
    bounds["crux"]["lines"] += 1
    (line,) = house.faults(figures, bounds)
    assert line == "tests/house.toml gives 4 code lines and 3 is the sum; take 1 off."
    bounds["crucible"]["lines"] -= 1
    assert [line.split(":")[0] for line in house.faults(figures, bounds)] == ["crucible"]


def test_lowering_takes_what_was_saved_and_raises_nothing(tmp_path: Path):
    one = "one = 1\n"
    bounds = given(built(tmp_path, {"crux/claims.py": 3 * one, "crucible/council.py": one}))
    figures = built(tmp_path, {"crux/claims.py": one, "crucible/council.py": 3 * one})
    lower = house.lowered(figures, bounds)
    assert (lower["crux"]["lines"], lower["crucible"]["lines"], lower["sums"]["lines"]) == (1, 1, 2)
    path = tmp_path / "house.toml"
    path.write_text("# What it is for.\n", encoding="utf-8")
    house.write(path, lower)
    assert house.read(path) == lower and path.read_text(encoding="utf-8").startswith("# What it is for.\n")


def test_each_figure_counts_what_it_says(tmp_path: Path):
    branches = "".join(f"    if x == {n} and x:\n        x += 1\n" for n in range(5))
    long = "def long():\n" + "    pass\n" * 80
    figures = built(
        tmp_path,
        {
            "crux/a.py": f'"""Say."""\nimport os\n\n# why\ndef f(x):\n{branches}    def g(x):\n        pass\n',
            "crux/b.py": "class Claim:\n    '''Say.'''\nclass Task: ...\nx = cast('dict[str, Any]', 1)\n",
            "crucible/c.py": f"class Claim: ...\nclass Task: ...\nclass _Own: ...\n{long}",
            "crucible/puzzles/d.py": "class Claim: ...\n",
        },
    )
    assert list(figures["crux"].values()) == [16, 1, 1, 1, 1, 0, 0]
    assert list(figures["crucible"].values()) == [84, 0, 0, 0, 1, 1, 1]


def built(folder: Path, files: dict[str, str]) -> house.Bounds:
    """Write modules into a folder and return what is found there."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return house.figures_of(house.look(folder))


def given(figures: house.Bounds) -> house.Bounds:
    """Return bounds that are what there is."""
    sums = {figure: sum(of_room[figure] for of_room in figures.values()) for figure in house.FIGURES}
    return {"sums": sums} | {room: dict(of_room) for room, of_room in figures.items()}

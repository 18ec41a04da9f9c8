"""AI Crucible: how reliably a model solves sealed puzzles, as a thin policy layer on Inspect AI.

::

    shop = Workshop.at(Path("trials"))
    report = shop.run(["all"], model="openrouter/some/model", k=5)
    assert shop.verify().ok

From Inspect's own command line: ``inspect eval ai_crucible/trial -T puzzles=all -T k=5 --model ...``. The modules
import without Inspect; what needs it says so. These names, and those of :mod:`ai_crucible.types`, are all there is
to use.
"""

from ai_crucible.arms import ArmEffect, effects
from ai_crucible.attempt import Framing, run_attempt, run_pass_hat_k
from ai_crucible.attestation import Ledger, Verification
from ai_crucible.budget_governor import Governor, Halt
from ai_crucible.bundle import make_bundle, verify_bundle
from ai_crucible.catalog import Catalog, Policy
from ai_crucible.catalog_paths import built_in_ids
from ai_crucible.checking import Bar, PuzzleCheck, check_puzzle
from ai_crucible.grading.edge import GradingFailed, SealedGrader
from ai_crucible.importing import Imported, import_folder
from ai_crucible.judge_panel import Judge, JudgeUntagged, PanelEmpty
from ai_crucible.observability import ModelRollup, PuzzleHistory, TrialReport, histories, rollup
from ai_crucible.oracle_scorer import gate
from ai_crucible.puzzle_box import CannotIsolate
from ai_crucible.puzzle_loader import PuzzleRefused, load_puzzle, load_puzzles
from ai_crucible.roles import CohortSolver, Critic, Solver
from ai_crucible.starting import new
from ai_crucible.workshop import Workshop
from llm_runtime.store.signing import SigningFailed
from llm_runtime.store.signing import SigningProgram as Signer

__all__ = [
    "ArmEffect", "Bar", "CannotIsolate", "Catalog", "CohortSolver", "Critic", "Framing", "Governor",
    "GradingFailed", "Halt", "Imported", "Judge", "JudgeUntagged", "Ledger", "ModelRollup", "PanelEmpty",
    "Policy", "PuzzleCheck", "PuzzleHistory", "PuzzleRefused", "SealedGrader", "Signer", "SigningFailed",
    "Solver", "TrialReport", "Verification", "Workshop", "built_in_ids", "check_puzzle", "effects", "gate",
    "histories", "import_folder", "load_puzzle", "load_puzzles", "make_bundle", "new", "rollup", "run_attempt",
    "run_pass_hat_k", "verify_bundle",
]  # fmt: skip

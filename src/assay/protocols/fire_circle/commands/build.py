"""What a build reads of verdicts: SARIF and JUnit files, whichever way the command ends."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.report.places import check_place
from llm_runtime.errors import ConfigurationError, LlmRuntimeError

if TYPE_CHECKING:
    from assay.protocols.fire_circle.report.judged import Judged
    from assay.report.junit import Fault

_INTERRUPTED = 130


@dataclass
class Build:
    """One command in a build.

    Args:
        sarif, junit: files to write, where they are wanted.
        tests: names of the test cases, for a run without a verdict.
        category: what tells this upload of SARIF from others.

    Raises:
        ConfigurationError: a file has no folder.
    """

    sarif: str | None
    junit: str | None
    tests: Sequence[str] = ("verdict",)
    category: str = "prompt"

    def __post_init__(self) -> None:
        for place in (self.sarif, self.junit):
            check_place(place)

    @contextmanager
    def reporting(self) -> Generator[None]:
        """Write the files also where an error leaves the command; not where it was used wrongly."""
        try:
            yield
        except LlmRuntimeError as fault:
            if fault.exit_code != ConfigurationError.exit_code:
                self.write_error(str(fault), fault.exit_code)
            raise
        except KeyboardInterrupt:
            self.write_error("interrupted", _INTERRUPTED)
            raise

    def write(
        self, judged: Sequence[Judged], tests: Mapping[str, Fault | None], run_id: str, milliseconds: int = 0,
        summary: str = "", faults: Sequence[str] = (), code: int | None = None,
    ) -> None:  # fmt: skip
        """Write both files; ``code`` is the exit code of a run without a verdict."""
        from assay.protocols.fire_circle.report.sarif import sarif_text
        from assay.report.junit import junit_xml
        from assay.report.places import write_whole

        if self.sarif is not None:
            write_whole(Path(self.sarif), sarif_text(judged, self.category, run_id, faults, code))
        if self.junit is not None:
            write_whole(Path(self.junit), junit_xml(tests, run_id, milliseconds, summary))

    def write_error(self, message: str, code: int, run_id: str = "") -> None:
        """Write files that say why there is no verdict."""
        from assay.report.junit import Fault

        fault = Fault("error", f"exit {code}", message)
        self.write((), dict.fromkeys(self.tests, fault), run_id, faults=[message], code=code)

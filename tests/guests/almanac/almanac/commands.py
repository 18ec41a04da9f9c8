"""`assay almanac`."""

from assay.console.running import RunCommand, run_command


@run_command("almanac.advice")
def almanac(command: RunCommand) -> int:
    """Learn when to sow PLANT."""
    return command.finish(command.go())

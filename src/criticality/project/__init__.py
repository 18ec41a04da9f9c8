"""A project on disk: layout, journal, ledger, archive, and one orchestrator at a time."""

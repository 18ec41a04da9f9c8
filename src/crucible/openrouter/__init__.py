"""Transport: the one door through which triage and executor reach a model."""

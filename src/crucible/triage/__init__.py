"""Triage: reads the query and configures the council. It never answers, and knows nothing of the executor."""

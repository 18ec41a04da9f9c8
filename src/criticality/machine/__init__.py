"""The orchestrator as a pure function: states, events, a table of transitions, and nothing that reasons."""

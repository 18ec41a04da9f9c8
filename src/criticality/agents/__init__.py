"""What agents outside the orchestrator may see and do of a project."""

"""Assay: questions, prompts, models, specifications and disagreements under structured adversarial pressure."""

__version__ = "0.2.0"

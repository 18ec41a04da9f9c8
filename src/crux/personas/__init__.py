"""Personas: from a shelf of texts to somebody who can sit on a panel."""

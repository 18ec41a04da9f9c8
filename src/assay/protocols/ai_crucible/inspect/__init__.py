"""The bridge to Inspect AI: a council as a model of any Inspect evaluation."""

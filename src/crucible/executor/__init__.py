"""The executor: runs what triage configured, mechanically, and decides nothing about meaning."""

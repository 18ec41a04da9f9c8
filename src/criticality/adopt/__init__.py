"""Adoption: functions that exist get types, contracts, claims and cases, judged against the code as it is."""

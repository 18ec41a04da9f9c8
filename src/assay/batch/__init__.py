"""Many runs: a job file worked off on one machine, or, with one option changed, on a cluster."""

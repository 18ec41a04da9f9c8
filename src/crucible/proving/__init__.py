"""Whether a finding is so: a test that fails on a change and passes without it, judged by running, in a box."""

"""A gate over many cases: conditions, verdicts that are kept, whose signatures count, what a change made worse."""

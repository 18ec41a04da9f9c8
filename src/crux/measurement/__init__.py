"""How well it works: every measure of the specification, each by a formula that stands in its docstring.

Three of the specification's measures are for people to judge. For these there is a blind sheet
(:mod:`crux.measurement.blind`) and, beside it, a figure that a program can compute; the figure is not the
judgement, and says so. What the specification leaves out (wins, argument scores, consensus) is left out here.
"""

"""How well it works: every measure of the specification, each by a formula that stands in its docstring.

Some of the specification's measures are for people to judge: for these there is a blind sheet
(:mod:`crux.measurement.blind`), and no figure of a program stands for them. What the specification leaves out
(wins, argument scores, consensus) is left out here.
"""

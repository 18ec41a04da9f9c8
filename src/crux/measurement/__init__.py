"""How well it works, by formulas that stand in docstrings; what stands for something else is not measured.

What only people can judge they judge on a blind sheet (:mod:`crux.measurement.blind`), and no figure of a program
stands for it. Wins, argument scores and consensus are left out, as the specification leaves them out.
"""

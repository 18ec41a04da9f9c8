"""How well it works, by formulas that stand in docstrings; what stands for something else is not measured.

Wins, argument scores and consensus are left out, as the specification leaves them out.
"""

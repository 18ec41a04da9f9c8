"""Whether dialogue helps, measured: voting alone explains most of what circles gain in the literature.

``lift`` compares the circle with its own first round and with as many independent samples; ``ablation`` takes
the chair away; ``calibration`` fits a threshold and freezes it; ``overdefence``, ``minimal_pairs`` and ``hijack``
look at what a high rate of detection can hide; ``groupthink`` shows who moved toward whom. Statistics are those
of :mod:`llm_runtime.statistics`; with scripted models all of this proves the plumbing only.
"""

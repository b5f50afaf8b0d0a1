"""Shows that nothing is lost and nothing is completed twice, whatever is killed.

`record` is what happened, `rules` is what must hold of it. The records come from real processes
that are killed (`run`), or from a simulation of them.
"""

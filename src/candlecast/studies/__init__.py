"""Grids of runs: expand, run, compare."""

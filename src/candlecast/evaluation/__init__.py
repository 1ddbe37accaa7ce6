"""Forecasts, their scores, and the baselines they must beat."""

"""Exact gradient accumulation and the loop around it."""

"""Bars: where they come from, how they are adjusted and checked, and the snapshot they leave."""

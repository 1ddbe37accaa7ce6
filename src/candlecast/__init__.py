"""Candlecast: a reproducible experiment pipeline for stock forecasting."""

"""The 32 indicators and the forecast's target."""

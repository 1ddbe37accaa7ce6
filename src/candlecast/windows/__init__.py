"""The panel, its split by date, the scaler, and batches of 256-bar views."""

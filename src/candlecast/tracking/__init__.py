"""Runs in MLflow: where the store lies, what a training leaves in it, how a run is found again."""

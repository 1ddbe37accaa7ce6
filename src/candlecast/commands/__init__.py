"""Commands of the command line that are longer than a few lines: options and what they run."""

"""Refuse parameters that are wrong, alone or together, before any stage touches its outputs.

DVC deletes a stage's outputs before it runs the stage, so an error found inside `train` would
cost the last model. This stage comes before all others; its output never changes, so it makes none of
them run again.
"""

from pathlib import Path

from candlecast.data.sources import check_source
from candlecast.files import write_text
from candlecast.settings import load_settings
from candlecast.stage import run_stage


def main() -> None:
    """Check every section of the parameters, and that the source and the exchange are there."""
    check_source(load_settings().data)
    write_text(Path("data/params_checked.txt"), "every section of the parameters is valid\n")


if __name__ == "__main__":
    run_stage(main)

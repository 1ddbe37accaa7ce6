"""Refuse parameters that are wrong, alone or together, before any stage touches its outputs.

DVC deletes a stage's outputs before it runs the stage, so an error found inside `train` would
cost the last model. This stage comes before all others; its output never changes, so it makes none of
them run again.
"""

import logging
import os
from pathlib import Path

from candlecast.data.sources import check_source
from candlecast.files import write_text
from candlecast.settings import load_settings
from candlecast.stage import run_stage
from candlecast.tracking.identity import unknown_code

logger = logging.getLogger(__name__)


def main() -> None:
    """Check every section of the parameters, and that the source and the exchange are there."""
    check_source(load_settings().data)
    # DVC copies what git knows, and says nothing of the rest.
    for name in unknown_code(Path(os.environ.get("DVC_ROOT", "."))) or ():
        if not Path(name).exists():
            logger.warning("%s: not known to git, so this experiment runs without it; git add it", name)
    write_text(Path("data/params_checked.txt"), "every section of the parameters is valid\n")


if __name__ == "__main__":
    run_stage(main)

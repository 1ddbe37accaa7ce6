"""Make .dvc/plots.html, the page into which `dvc plots` puts its charts.

DVC's own page loads its drawing libraries from the network and stays blank without one. This one carries
them: give the minified files of the versions that DVC names in `dvc_render.vega`, as their npm packages have
them, and the licence they share.

    python scripts/plots_template.py vega.min.js vega-lite.min.js vega-embed.min.js LICENSE
"""

import sys
from pathlib import Path

TEMPLATE = Path(__file__).parent.parent / ".dvc" / "plots.html"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Candlecast: DVC plots</title>
<link rel="icon" href="data:,">
{refresh_tag}
<style>
body {{ font-family: system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; color: #1f2933; }}
body > div {{ margin-block: 1.5rem; overflow-x: auto; }}
table {{ border-spacing: 15px; }}
</style>
<!-- {licence} -->
{libraries}
</head>
<body>
{plot_divs}
</body>
</html>
"""


def template(libraries: list[str], licence: str) -> str:
    """Return the page; DVC fills in refresh_tag and plot_divs."""
    for text in libraries:
        for placeholder in ("{scripts}", "{plot_divs}", "{refresh_tag}", "</script"):
            if placeholder in text:
                raise SystemExit(f"a library contains {placeholder}, which the page would take for its own")
    return PAGE.format(
        refresh_tag="{refresh_tag}",
        plot_divs="{plot_divs}",
        licence=licence.strip().replace("--", "- -"),
        libraries="\n".join(f"<script>{text}</script>" for text in libraries),
    )


if __name__ == "__main__":
    *libraries, licence = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
    TEMPLATE.write_text(template(libraries, licence), encoding="utf-8")

"""The JavaScript module of a dashboard: the stage, the kinds of widgets in use, and the style sheet."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

SHARED = ("dom", "address", "stage")
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)  # for who reads the sources; pages are sent


@cache
def static(name: str) -> str:
    """Return a file of ``static/``, without comments of its own lines."""
    return COMMENT.sub("", (files("lvmkit_widgets") / "static" / name).read_text("utf-8"))


@cache
def script_of(kinds: tuple[str, ...]) -> str:
    """Return a self-contained ES module that draws dashboards with these kinds of parts."""
    # It imports nothing and names no address, so that the same text runs in Jupyter, under Panel and in a saved page.
    drawn = sorted({*kinds} - {"stage"})
    return "\n".join(
        [
            *(static(f"{name}.js") for name in (*SHARED, *drawn)),
            f"const STYLE = {json.dumps(static('stage.css'))};",
            f"const KINDS = {{ {', '.join(drawn)} }};",
            "function render({ model, el }) { return stage(model, el, KINDS, STYLE); }",
            "export default { render };",
        ]
    )

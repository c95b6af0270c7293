"""The JavaScript module of a dashboard: the stage, the kinds of widgets in use, and the style sheet."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

SHARED = ("dom", "address", "stage")
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)  # for who reads the sources; pages are sent


@cache
def script_of(kinds: tuple[str, ...]) -> str:
    """Return a self-contained ES module that draws dashboards with these kinds of parts."""
    # The module imports nothing and names no address, so that the same text runs in Jupyter, under Panel and in a saved
    # page.
    drawn = [kind for kind in kinds if kind != "stage"]
    static = files("lvmkit_widgets") / "static"
    style = json.dumps((static / "stage.css").read_text("utf-8"))
    sources = [
        COMMENT.sub("", (static / f"{name}.js").read_text("utf-8")) for name in (*SHARED, *drawn)
    ]
    table = ", ".join(drawn)
    return "\n".join(
        [
            *sources,
            f"const STYLE = {style};",
            f"const KINDS = {{ {table} }};",
            "function render({ model, el }) { return stage(model, el, KINDS, STYLE); }",
            "export default { render };",
        ]
    )

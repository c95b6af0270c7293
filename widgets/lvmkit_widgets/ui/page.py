"""Saved pages: one file with script and fields that can reach no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from lvmkit.core.writing import in_words, replacing, require_place, shown_name
from lvmkit_widgets.ui.bundle import script_of, static
from lvmkit_widgets.ui.words import refuse

_LINE = re.compile(r' (?:d|transform)="[^"]*"')
_LONG = re.compile(r"\d+\.\d{2,}")


def write_page(
    path: str | Path, *, title: str, state: Mapping[str, Any], kinds: tuple[str, ...]
) -> Path:
    """Write fields and script as one HTML file, as a whole or not at all."""
    # Who may read the file is decided by the folder and the umask, or by the permissions of the page that was there.
    # The file's Content-Security-Policy allows only the script in it and forbids every connection.
    target = target_of(path)
    text = page_of(title=title, state=state, kinds=kinds)
    with replacing(target) as file:
        file.write(text.encode("utf-8"))
    return target


def target_of(path: str | Path) -> Path:
    """Refuse a path that no page can be written to, before any work."""
    target = Path(path)
    try:
        if target.is_dir():
            shown = shown_name(target)
            refuse(
                f"cannot save the page to {shown!r}, a folder: name a file in it, such as '{shown}/page.html'"
            )
        require_place(target)
    except OSError as error:
        msg = str(error if error.filename is None else in_words(error, target, "write"))
        raise ValueError(msg) from error
    return target


def page_of(*, title: str, state: Mapping[str, Any], kinds: tuple[str, ...]) -> str:
    """Return the HTML text of a saved dashboard."""
    script = script_of(kinds).replace("</script", "<\\/script") + "\n" + static("shim.js")
    values = json.dumps(state, default=_encoded, ensure_ascii=False, separators=(",", ":"))
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return Template(static("page.html")).substitute(
        hashes=f"'sha256-{digest}'",
        title=html.escape(title or "lvmkit"),
        state=values.replace("<", "\\u003c"),
        script=script,
    )


def shortened(picture: str) -> str:
    """Round the lines of a picture to a tenth of a pixel: a page holds many."""
    return _LINE.sub(lambda line: _LONG.sub(lambda n: f"{float(n[0]):.1f}", line[0]), picture)


def _encoded(value: object) -> dict[str, str]:
    """Return bytes in a form that JSON can hold."""
    if not isinstance(value, bytes):
        msg = f"a field holds {type(value).__name__}, which a page cannot keep"
        raise TypeError(msg)
    return {"$bytes": base64.b64encode(value).decode("ascii")}

"""Run the notebooks and store their outputs: `make notebooks`.

Pictures are stored with a palette of 128 colors, a third of their size. A cell tagged `dashboard` keeps the picture
of the live view that stands in its still picture, since a live view cannot be stored.
"""

import base64
import io
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).parent
LIVE = "application/vnd.jupyter.widget-view+json"
STILL = re.compile(r"data:image/(?:png|svg\+xml);base64,([A-Za-z0-9+/=]+)")


def main(names: list[str]) -> None:
    """Store the outputs of the notebooks named, or of all."""
    if not os.environ.get("LVMKIT_DATA"):
        sys.exit(
            "Set LVMKIT_DATA to the folder of the real data: without them, their stored results would be lost."
        )
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.name not in names:
            continue
        notebook = nbformat.read(path, as_version=4)
        pictures = [_picture(cell) for cell in notebook.cells]
        place = {"metadata": {"path": str(FOLDER)}}
        options = {"record_timing": False, "store_widget_state": False, "resources": place}
        NotebookClient(notebook, timeout=600, **options).execute()
        for cell, picture in zip(notebook.cells, pictures, strict=True):
            _clean(cell, picture)
        notebook.metadata.pop("widgets", None)
        nbformat.validate(notebook)
        nbformat.write(notebook, path)
        sys.stdout.write(f"{path.name}: {path.stat().st_size // 1000} kB\n")


def _picture(cell: Any) -> str | None:
    """Return the picture stored in a dashboard's cell."""
    if "dashboard" not in cell.metadata.get("tags", []):
        return None
    shown = [_joined(output.get("data", {}).get("text/html")) for output in cell.outputs]
    found = [match[1] for text in shown if (match := STILL.search(text))]
    return found[0] if found else None


def _clean(cell: Any, picture: str | None) -> None:
    """Drop live views, put a dashboard's picture back, shrink the other pictures."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        data.pop(LIVE, None)
        if picture is not None and STILL.search(text := _joined(data.get("text/html"))):
            data["text/html"] = STILL.sub(f"data:image/png;base64,{picture}", text, count=1)
        elif "image/png" in data:
            data["image/png"] = _small(data["image/png"])


def _joined(text: Any) -> str:
    """Return a text that may be stored as lines."""
    return "".join(text or "")


def _small(png: str) -> str:
    """Store a picture with a palette."""
    image = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    target = io.BytesIO()
    image.quantize(128, dither=Image.Dither.NONE).save(target, "PNG", optimize=True)
    return base64.b64encode(target.getvalue()).decode() + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])

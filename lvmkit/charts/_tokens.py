"""Texts and links of a chart as short tokens, so that drawing it takes a third of the time."""

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_LETTERS = "".join(chr(c) for c in range(0xC0, 0x100) if c not in (0xD7, 0xF7))
_TEXT = re.compile(rf">([{_LETTERS}]{{1,3}})(?=</t(?:ext|span)>)")
_SIGN = "\ue000"  # starts the token of a link; for private use, so no text has it
_LINKED = re.compile(rf'<(\w+) aria-label="{_SIGN}(\d+)"([^>]*?)(/>|>.*?</\1>)', re.DOTALL)

Spec = dict[str, Any]
Rows = list[dict[str, Any]]


class Tokens:
    """Which token stands for which text, and which for which link."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._links: dict[tuple[str, str | None], int] = {}

    def shortened(self, spec: Spec) -> Spec:
        """Return a copy of a specification with tokens for texts that are drawn, and for links."""
        short = {**spec, "datasets": dict(spec.get("datasets", {}))}
        if "layer" in spec:
            shared = spec.get("data")
            short["layer"] = [
                self._unlinked(layer, layer.get("data", shared), short["datasets"])
                for layer in spec["layer"]
            ]
        short["datasets"] = {
            name: [self._row(row) for row in rows] for name, rows in short["datasets"].items()
        }
        if isinstance(spec.get("title"), dict):
            short["title"] = self._title(spec["title"])
        return short

    def put_back(self, picture: str) -> str:
        """Return the picture with the texts and links that the tokens stand for."""
        texts = {token: escape(text, quote=False) for text, token in self._texts.items()}
        picture = _TEXT.sub(lambda found: f">{texts.get(found[1], found[1])}", picture)
        links = list(self._links)

        def linked(found: re.Match[str]) -> str:
            label, href = links[int(found[2])]
            mark = f'<{found[1]} aria-label="{escape(label)}"{found[3]}{found[4]}'
            return mark if href is None else f'<a xlink:href="{escape(href)}">{mark}</a>'

        return _LINKED.sub(linked, picture)

    def _row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Shorten what is drawn of a row of data."""
        return {k: self._text(v) if k.startswith("text") else v for k, v in row.items()}

    def _title(self, title: Spec) -> Spec:
        """Shorten the lines of a title."""
        lines = {
            key: title[key] for key in ("text", "subtitle") if isinstance(title.get(key), list)
        }
        return {**title, **{key: [self._text(t) for t in value] for key, value in lines.items()}}

    def _text(self, value: Any) -> Any:
        """Return the token of a text that is longer than a token."""
        if not isinstance(value, str) or (len(value) < 2 and value not in _LETTERS):
            return value
        return self._texts.setdefault(value, _letters(len(self._texts)))

    def _unlinked(self, layer: Spec, data: Any, datasets: dict[str, Rows]) -> Spec:
        """Let one column of tokens stand for a layer's links and descriptions; drop its tooltips."""
        # A picture shows no tooltips, and the description tells the same.
        encoding = layer.get("encoding", {})
        name = data.get("name") if isinstance(data, dict) else None
        label, href = (_column(encoding.get(channel)) for channel in ("description", "href"))
        if label is None or href is None or name not in datasets:
            return layer
        column = f"{_SIGN}{label} {href}"
        datasets[name] = list(self._with_links(datasets[name], column, label, href))
        kept = {k: v for k, v in encoding.items() if k not in ("href", "tooltip")}
        kept["description"] = {"field": column, "type": "nominal"}
        return {**layer, "encoding": kept}

    def _with_links(
        self, rows: Rows, column: str, label: str, href: str
    ) -> Iterator[dict[str, Any]]:
        """Add the tokens of the links as a column."""
        for row in rows:
            link = (str(row.get(label, "")), row.get(href))
            yield {**row, column: f"{_SIGN}{self._links.setdefault(link, len(self._links))}"}


def _column(channel: Any) -> str | None:
    """Name the column that a channel shows as it is."""
    if isinstance(channel, dict) and set(channel) <= {"field", "type"}:
        return channel.get("field")
    return None


def _letters(number: int) -> str:
    """Write a number in letters that texts do not consist of alone."""
    high, low = divmod(number, len(_LETTERS))
    return (_letters(high - 1) if high else "") + _LETTERS[low]

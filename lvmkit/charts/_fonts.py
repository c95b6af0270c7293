"""Widths of texts in Arial, in which charts are laid out; where it is missing, labels are drawn as wide."""

_THOUSANDTHS = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft\u00a0·",
    333: "()-`r",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jcksvxyzν",
    556: "#$?L_abdeghnopqu0123456789–",
    584: "+<=>~−×",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "…—",
    1015: "@",
}
_WIDTHS = {letter: width / 1000 for width, letters in _THOUSANDTHS.items() for letter in letters}
WIDEST = 1.25
"""Fonts that stand in for Arial are at most so much wider (DejaVu Sans: 1.11, bold 1.18)."""


def arial_width(text: str, size: float) -> float:
    """Return the width of a text in Arial or Liberation Sans, in pixels; other letters count as an "n"."""
    return size * sum(_WIDTHS.get(letter, 0.556) for letter in text)

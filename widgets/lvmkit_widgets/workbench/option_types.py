"""What is typed after an option of the command line: numbers, texts, ports."""

from __future__ import annotations

import argparse

DIGITS = 9
"""Of a number that is typed."""


def count(text: str) -> int:
    """Return a number of clusters, words or documents."""
    if not text.isdecimal() or len(text) > DIGITS or int(text) < 1:
        msg = f"{_short(text)} is no such number; use 1 or more, with {DIGITS} digits at most"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def text_of(text: str) -> str:
    """Return a text of characters that can be printed."""
    if not text.isprintable():
        msg = f"{_short(text)} holds what is no printable character"
        raise argparse.ArgumentTypeError(msg)
    return text


def _short(text: str) -> str:
    """Quote what was typed, or how it begins."""
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


def port(text: str) -> int:
    """Return a port."""
    if not text.isdecimal() or len(text) > DIGITS or int(text) > 65535:
        msg = f"{_short(text)} is no port; use 0 to 65535"
        raise argparse.ArgumentTypeError(msg)
    return int(text)

"""Words that several dashboards say: numbers of things, refusals, and what is said of small counts."""

from collections.abc import Sequence
from typing import NoReturn

from lvmkit.disclosure import Disclosure
from lvmkit.disclosure.text import is_few


def counted(n: int, noun: str) -> str:
    """Write a number of things."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def counted_unless_few(n: int, noun: str, rule: Disclosure) -> str:
    """Write a number of things, or that there are few where that is hidden."""
    return f"<{rule.threshold} {noun}s" if is_few(n, rule.level) else counted(n, noun)


def first_of(texts: Sequence[str], most: int, between: str = "; ") -> str:
    """List the first of some texts, and say how many more there are."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return between.join(texts[:most]) + more


def refuse(message: str, kind: type[Exception] = ValueError) -> NoReturn:
    """Refuse what was asked for, and say why."""
    raise kind(message)


def require_numbered(number: int, n: int, noun: str) -> None:
    """Refuse a number that none of the n things has."""
    if not 0 <= number < n:
        refuse(f"There is no {noun} {number}; they are numbered 0 to {n - 1}.")


def small_counts(
    threshold: int, *, hidden: bool, seen: str = "this screen", saved: str = "Saved pages"
) -> str:
    """Say that small counts are hidden, or that they are seen."""
    if not hidden:
        return f"Small counts are shown: keep {seen} to yourself. {saved} hide them."
    return (
        f"Counts of 1 to {threshold - 1} are hidden (<{threshold}), and some others, so that they cannot be found "
        "by subtraction."
    )

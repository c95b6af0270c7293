"""Words that several dashboards say: numbers of things, and what is said of small counts."""


def counted(n: int, noun: str) -> str:
    """Write a number of things."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


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

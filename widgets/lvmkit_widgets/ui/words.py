"""Counted words."""


def counted(n: int, noun: str) -> str:
    """Write a number of things."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"

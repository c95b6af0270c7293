"""The rule of small counts as a value: from which number on counts are shown, and whether it is in force."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lvmkit.core.validation import require_flag, require_number

THRESHOLD = 11
"""The smallest count that health statistics offices publish (US Centers for Medicare & Medicaid Services)."""


@dataclass(frozen=True)
class Disclosure:
    """Which counts are shown: all, or none from 1 to `threshold` − 1.

    Parameters
    ----------
    threshold : int, default=11
        The smallest count above 0 that is shown.
    private : bool, default=True
        Whether rows stand for people; of other data every count is shown everywhere.
    on_screen : bool, default=True
        Whether small counts are hidden on the screen of who holds the data too. What is handed on hides them always.

    Raises
    ------
    TypeError, ValueError
        When `threshold` is no whole number of 2 or more, or another is neither True nor False.

    Examples
    --------
    >>> rule = Disclosure(on_screen=False)
    >>> rule.level, rule.for_others.level
    (0, 11)
    """

    threshold: int = THRESHOLD
    private: bool = True
    on_screen: bool = True

    def __post_init__(self) -> None:
        # with less than 2 a single person would be told
        require_number(self.threshold, "threshold", least=2, whole=True)
        require_flag(self.private, "private")
        require_flag(self.on_screen, "on_screen")

    @property
    def in_force(self) -> bool:
        """Whether small counts are hidden."""
        return self.private and self.on_screen

    @property
    def level(self) -> int:
        """The smallest count above 0 that is shown, as functions of counts take it; 0 where all are shown."""
        return self.threshold if self.in_force else 0

    @property
    def for_others(self) -> Disclosure:
        """The rule for what is handed on."""
        return replace(self, on_screen=True)

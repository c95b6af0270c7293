"""Statistical disclosure control: suppression of small counts before anything is shared.

The rule is the one health statistics offices use: counts of 1 to 10 are not shown, 0 is (US Centers
for Medicare & Medicaid Services, cell size suppression policy). A hidden count must not be found by
subtraction from a known total either: further cells are hidden until it could still be anything
from 1 to 10.
"""

from lvmkit.disclosure.cells import Suppression, suppression, suppression_with_totals
from lvmkit.disclosure.rule import Disclosure
from lvmkit.disclosure.tables import count_text, mask_shares, suppress

__all__ = [
    "Disclosure",
    "Suppression",
    "count_text",
    "mask_shares",
    "suppress",
    "suppression",
    "suppression_with_totals",
]

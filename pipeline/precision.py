"""How often the gate was right, and how sure that is."""

from __future__ import annotations

from math import sqrt

Z_95 = 1.959963984540054
"""The normal quantile that leaves 2.5 % on either side."""


def wilson(right: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share, (0, 1) of nothing. It holds for few answers and for shares near 0 and 1, where the
    usual one gives (1, 1) after eleven approvals. Source: E. B. Wilson, JASA 22 (1927), 209-212.
    """
    if of == 0:
        return 0.0, 1.0
    share, z2 = right / of, Z_95**2
    centre = share + z2 / (2 * of)
    half = Z_95 * sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return max(0.0, (centre - half) / (1 + z2 / of)), min(1.0, (centre + half) / (1 + z2 / of))

"""Places in a shown text."""

START = r"(?:^|[.!?:;¦…(\[\"'„“”«»–—-] ?)"
"""Where a sentence or a quotation begins; a pattern goes on right behind it."""

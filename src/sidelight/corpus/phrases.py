"""Fixed phrases of references, commonest first; a slot in braces is filled when the phrase is used."""

from __future__ import annotations

ORDINALS: tuple[str, ...] = (
    "First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth", "Eleventh",
    "Twelfth",
)  # fmt: skip
REPORTS: tuple[str, ...] = (
    "Technical Report", "Tech. Rep.", "Technical report", "Report", "Research Report", "Technical Memo",
    "Working Paper", "AI Memo", "Internal Report", "Research Note",
)  # fmt: skip
THESES: tuple[str, ...] = (
    "PhD thesis", "Ph.D. thesis", "Ph.D. dissertation", "Doctoral dissertation", "Master's thesis", "Doctoral thesis",
    "M.Sc. thesis", "Diploma thesis",
)  # fmt: skip
PENDING: tuple[str, ...] = (
    "To appear", "Submitted", "In press", "Submitted for publication", "Unpublished manuscript", "In preparation",
    "to appear", "Manuscript", "Accepted for publication", "Available from the author", "Draft",
    "Personal communication", "Preprint", "Forthcoming", "Under review",
)  # fmt: skip
REMARKS: tuple[str, ...] = (
    "Invited paper", "Extended abstract", "Revised version", "Available from the author",
    "In Japanese", "Available by anonymous ftp", "Reprinted {later}", "{pages} pages",
    "Translated by {person}", "Also available as a technical report", "An earlier version appeared in {earlier}",
    "With a foreword by {person}", "Special issue on {topic}", "Presented at the {city} workshop",
)  # fmt: skip

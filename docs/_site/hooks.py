"""Pages that are files of the root (CHANGELOG.md, CONTRIBUTING.md): links to docs/ are links of the site there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
WHOLE = re.compile(r'\A--8<-- "(\w+\.md)"\s*\Z')


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """The text of a page; that of the file where the page is nothing but its inclusion."""
    found = WHOLE.match(markdown)
    return markdown if found is None else (ROOT / found[1]).read_text(encoding="utf-8").replace("](docs/", "](")

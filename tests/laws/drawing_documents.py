"""Texts with odd characters, and labels of their tokens."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sidelight.annotation_tools.documents import Document, document
from sidelight.evaluate.schemes import written

ODD = "ab.,-'é🙂👍\u0301\u200d\ufe0f\u05d0\u0915\u093f𝒊  \u00a0\u2003\t\n\r"
texts = st.text(alphabet=ODD, max_size=40)
TYPES = ("PER", "LOC")


@st.composite
def labelled(draw: Any, most: int = 3) -> tuple[list[Document], list[list[str]]]:
    """Some documents with labels for each of their lines."""
    docs = [document(draw(texts), f"doc{i}") for i in range(draw(st.integers(1, most)))]
    rows = []
    for doc in docs:
        for line in doc.lines:
            chunks, t = [], 0
            while t < len(line):
                size = draw(st.integers(1, 3))
                kind = draw(st.sampled_from(["", *TYPES]))
                if kind:
                    chunks.append((t, min(t + size, len(line)), kind))
                t += size
            rows.append(written(chunks, len(line), "BIO"))
    return docs, rows

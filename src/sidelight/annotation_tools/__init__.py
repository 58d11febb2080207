"""Files of annotation tools: Label Studio, doccano and brat, read as evidence and written with predictions.

Each format is a module with `read`, `text_of` and `write`, such as `annotation_tools.label_studio.read("export.json")`.
"""

from sidelight.annotation_tools import brat, doccano, label_studio
from sidelight.annotation_tools.annotated_file import AnnotatedFile, extractions
from sidelight.annotation_tools.documents import Annotation, Document, Misfit, document, of_tokens
from sidelight.annotation_tools.tools import TOOLS, read, tool_of

__all__ = [
    "TOOLS",
    "AnnotatedFile",
    "Annotation",
    "Document",
    "Misfit",
    "brat",
    "doccano",
    "document",
    "extractions",
    "label_studio",
    "of_tokens",
    "read",
    "tool_of",
]

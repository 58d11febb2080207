"""Objects of other libraries as inputs, evidence, votes and rules: spaCy, Snorkel, skweak; and inputs of ONNX graphs.

Importing this module needs none of these libraries. `spacy_component` is the pipeline component for spaCy.
"""

from sidelight.interop.snorkel_votes import snorkel_functions, votes_of_matrix
from sidelight.interop.spacy_docs import DocTokens, doc_evidence, doc_inputs
from sidelight.interop.span_finders import span_functions, span_rule
from sidelight.models.onnx_graph import onnx_inputs

__all__ = [
    "DocTokens",
    "doc_evidence",
    "doc_inputs",
    "onnx_inputs",
    "snorkel_functions",
    "span_functions",
    "span_rule",
    "votes_of_matrix",
]

"""Reading files as inputs and evidence, and checking their contents."""

from sidelight.data.attributes import read_attributes
from sidelight.data.checks import check_evidence
from sidelight.data.columns import read_columns, write_columns
from sidelight.data.corpus import Corpus
from sidelight.data.files import read_lines, read_text, write_text_atomically
from sidelight.data.json_lines.lines import read_jsonl
from sidelight.data.load import load_corpus, load_evidence
from sidelight.data.relations import EntitySentence, Extraction, read_relations, write_relations
from sidelight.data.stored import StoredCorpus, stored
from sidelight.data.tables import from_table, read_parquet

__all__ = [
    "Corpus",
    "EntitySentence",
    "Extraction",
    "StoredCorpus",
    "check_evidence",
    "from_table",
    "load_corpus",
    "load_evidence",
    "read_attributes",
    "read_columns",
    "read_jsonl",
    "read_lines",
    "read_parquet",
    "read_relations",
    "read_text",
    "stored",
    "write_columns",
    "write_relations",
    "write_text_atomically",
]

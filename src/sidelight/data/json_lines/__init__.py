"""JSON lines: inputs and outputs, candidates, votes."""

"""Sidelight against its peers: ratios from one run. `python -m benchmarks [--json FILE] [NAME …]`."""

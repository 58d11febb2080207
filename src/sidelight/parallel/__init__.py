"""Places where batches run: threads, and workers on Ray."""

from sidelight.parallel.place import place_of
from sidelight.parallel.threads import shards, thread_count, threads

__all__ = ["place_of", "shards", "thread_count", "threads"]

"""Where batches run."""

from sidelight.parallel.threads import shards, thread_count, threads

__all__ = ["shards", "thread_count", "threads"]

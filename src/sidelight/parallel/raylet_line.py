"""A line to Ray's own process on this machine, its raylet, which falls silent when that ends.

After that Ray ends a driver that touches the object store, without a word; so the driver looks here before it does.
"""

from __future__ import annotations

import socket
from typing import Any


class RayletLine:
    """An open connection on which nothing is said."""

    def __init__(self, path: str | None) -> None:
        self._line: Any = None
        if path is not None and hasattr(socket, "AF_UNIX"):
            line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                line.connect(path)
            except OSError:  # not ours to open, as on a machine of several users
                line.close()
                return
            line.setblocking(False)
            self._line = line

    @classmethod
    def of_driver(cls) -> RayletLine:
        """That of this process, where it is on a machine of the cluster."""
        from ray._private import worker

        return cls(getattr(worker.global_worker.node, "raylet_socket_name", None))

    def __del__(self) -> None:
        if self._line is not None:
            self._line.close()

    def is_cut(self) -> bool:
        """Whether the other end is gone."""
        if self._line is None:
            return False
        try:
            return not self._line.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

"""A connection to Ray's own process on this machine, its raylet, which closes when the raylet ends.

After that, Ray ends without a message any driver that uses the object store; so the driver checks this connection
first.
"""

from __future__ import annotations

import socket
from typing import Any


class RayletLine:
    """An open connection without traffic."""

    def __init__(self, path: str | None) -> None:
        self._line: Any = None
        if path is not None and hasattr(socket, "AF_UNIX"):
            line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                line.connect(path)
            except OSError:  # no permission, as on a machine of several users
                line.close()
                return
            line.setblocking(False)
            self._line = line

    @classmethod
    def of_driver(cls) -> RayletLine:
        """The connection of this process, if it runs on a machine of the cluster."""
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

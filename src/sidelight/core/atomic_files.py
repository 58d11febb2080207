"""Files that are written completely or not at all: without a name, or under a temporary name, and then renamed.

If the system supports it (Linux), the file has no name while it is written, so nothing remains if the process is
killed. Elsewhere it has a recognisable name, and a lock for as long as its writer lives. The next writer of the same
file removes what a killed writer left.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sidelight.core.checks import file_name
from sidelight.errors import DataError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None

SUFFIX = ".part"


def write_atomically(path: str | Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file, whole or piece by piece. Readers see the old or the new file, never a part.

    Raises `DataError` if the folder is missing, `path` is not a file, or it cannot be written (a full disk, no
    permission; the `OSError` is the cause). Then the old file is unchanged.
    """
    target = Path(os.path.realpath(file_name(path)))
    if target.is_dir():
        raise DataError("this is a folder", file=path, remedy="give the name of a file")
    if target.exists() and not target.is_file():
        raise DataError("not a regular file", file=path, remedy="give the name of a file to write")
    if not target.parent.is_dir():
        problem = f"there is no folder {Path(path).parent}"
        raise DataError(problem, file=path, remedy="create the folder, or name another file")
    _remove_stale(target)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{SUFFIX}")
    try:
        _put(temporary, target, data)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        remedy = "check the folder, its permissions and the room on the disk"
        raise DataError(f"cannot be written ({error.strerror or error})", file=path, remedy=remedy) from error
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _put(temporary: Path, target: Path, data: bytes | Iterable[bytes]) -> None:
    handle = _nameless(target.parent)
    nameless = handle is not None
    if handle is None:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        if fcntl is not None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
    with os.fdopen(handle, "wb") as file:
        file.writelines([data] if isinstance(data, bytes) else data)
        file.flush()
        os.fsync(file.fileno())
        if nameless:
            # with a folder descriptor, Python makes the system follow the link, although the name is absolute
            os.link(f"/proc/self/fd/{file.fileno()}", temporary, src_dir_fd=file.fileno(), follow_symlinks=True)
        os.replace(temporary, target)


def _nameless(folder: Path) -> int | None:
    """A file without a name in a folder; None if the system or the file system does not support this."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            return None
        raise


def _remove_stale(target: Path) -> None:
    """Remove temporary files of writers that were killed: the lock of a dead process is free."""
    if fcntl is None:
        return
    begin = f".{target.name}."
    for name in os.listdir(target.parent):
        middle = name.removeprefix(begin).removesuffix(SUFFIX)
        if name != f"{begin}{middle}{SUFFIX}" or len(middle) != 8:
            continue
        left = target.with_name(name)
        with suppress(OSError):
            handle = os.open(left, os.O_WRONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(handle)


@contextmanager
def locked(path: str | Path, *, held: str) -> Iterator[None]:
    """Hold a lock on a file within this context; raises `DataError` (`held`) if another process holds it.

    A lock ends with its process, however the process ends.
    """
    handle = _opened(path)
    try:
        while fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise DataError(held, remedy="wait until it has ended") from None
            if _is_at(handle, path):
                break
            os.close(handle)  # who had it has removed it since it was opened: another one may be there by now
            handle = _opened(path)
        try:
            yield
        finally:
            with suppress(OSError):
                os.unlink(path)
    finally:
        os.close(handle)


def _opened(path: str | Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        remedy = "check the folder, its permissions and the room on the disk"
        raise DataError(f"cannot be written ({error.strerror or error})", file=path, remedy=remedy) from error


def _is_at(handle: int, path: str | Path) -> bool:
    """Whether an open file is the one of this name."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


__all__ = ["locked", "write_atomically"]

"""Files that are there in full or not at all: written without a name, or under another one, and then put in place.

Where the system can (Linux), what is being written has no name, so that nothing stays behind when the process is
killed. Elsewhere it has a name that is recognised, and a lock for as long as its writer lives: whoever writes the same
file next removes what a killed one left.
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
    """Write a file, whole or piece by piece; a reader sees the old one or the new one, never part of one.

    Raises `DataError` where the folder is missing, `path` is something else than a file, or it cannot be written (a
    full disk, no permission; the `OSError` is the cause): the old file is then as it was.
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
            # with a folder, though the name is a full one, Python asks the system to follow the link
            os.link(f"/proc/self/fd/{file.fileno()}", temporary, src_dir_fd=file.fileno(), follow_symlinks=True)
        os.replace(temporary, target)


def _nameless(folder: Path) -> int | None:
    """A file without a name in a folder; None where the system, or the disk, has no such thing."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            return None
        raise


def _remove_stale(target: Path) -> None:
    """Remove what writers of the same file left when they were killed: the lock of a dead one is free."""
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
    """Keep others out while this lasts; raises `DataError` (`held`) where somebody is in.

    The lock of a process ends with it, however it ends.
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

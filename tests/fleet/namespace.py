"""A network of one's own for tests: it has nothing but `lo`, so that nothing that is asked for leaves this machine."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

CLONE_NEWNET = 0x40000000
"""Flag of unshare(2) and setns(2): the network namespace."""
SIOCSIFFLAGS = 0x8914
"""Request of ioctl(2), netdevice(7): set the flags of an interface."""
IFF_UP = 1
"""Flag of an interface."""
OWN = "/proc/thread-self/ns/net"


class NotPermitted(Exception):
    """This machine does not let us make a namespace."""


@contextmanager
def loopback_alone() -> Iterator[None]:
    """Put this thread into a network namespace of its own, and all threads and processes that it starts meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open(OWN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.unshare(CLONE_NEWNET):
            raise NotPermitted(os.strerror(ctypes.get_errno()))
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
                fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
            yield
        finally:
            if libc.setns(before, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "the namespace of the tests cannot be left")
    finally:
        os.close(before)

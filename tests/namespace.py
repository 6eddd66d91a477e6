"""A network of one's own for tests: it has nothing but `lo`, so that nothing that is asked for leaves this machine."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest

CLONE_NEWNET = 0x40000000
"""Flag of unshare(2) and setns(2): the network namespace."""
SIOCSIFFLAGS = 0x8914
"""Request of ioctl(2), netdevice(7): set the flags of an interface."""
SIOCSIFADDR = 0x8916
"""The same: set its address."""
IFF_UP = 1
"""Flag of an interface."""
OWN = "/proc/thread-self/ns/net"
ADDRESSES = "/proc/thread-self/net/if_inet6"
IFA_F_TENTATIVE = 0x40
"""Flag of an address there, rtnetlink(7): it cannot be bound to yet."""
READY_S = 10
"""Seconds that the kernel may take for that on a busy machine."""


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


@contextmanager
def alone_or_skipped() -> Iterator[None]:
    """The namespace for tests; where none is permitted they are skipped, visibly."""
    with ExitStack() as stack:
        try:
            stack.enter_context(loopback_alone())
        except NotPermitted as error:
            pytest.skip(f"needs a network namespace of its own: {error}")
        yield


def _is_tentative(address: str) -> bool:
    """True while the kernel has not made an IPv6 address, in hexadecimal, ready for use."""
    lines = map(str.split, Path(ADDRESSES).read_text().splitlines())
    return any(line[0] == address and int(line[4], 16) & IFA_F_TENTATIVE for line in lines)


def add_address(address: str, number: int) -> None:
    """Give `lo` one more address; of IPv4 the `number`th."""
    if ":" in address:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as any_socket:
            index = socket.if_nametoindex("lo")
            fcntl.ioctl(any_socket, SIOCSIFADDR, struct.pack("16sIi", ip_address(address).packed, 128, index))
        until = time.monotonic() + READY_S
        while _is_tentative(ip_address(address).packed.hex()):
            assert time.monotonic() < until, f"{address} cannot be used"
            time.sleep(0.01)  # the kernel does not say when
        return
    name = f"lo:{number}".encode()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton(address))
        fcntl.ioctl(any_socket, SIOCSIFADDR, request)

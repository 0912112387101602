"""Whether a run gets a network of its own on this machine, and who is there to be kept out."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from gpupanel.devices.login_users import other_login_users
from gpupanel.devices.private_network import (
    NetworkRefusedError,
    PrivateNetwork,
    new_private_network,
)
from gpupanel.domain.network_access import NetworkAccess

_SWITCHES: Final = (
    # Debian's patch of the kernel, and its successor of Ubuntu.
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("user.max_user_namespaces", "0", "15000"),
    ("user.max_net_namespaces", "0", "15000"),
)
"""Settings of the kernel by which administrators forbid namespaces, how that shows, and what
permits them."""


@cache
def network_access() -> NetworkAccess:
    """How it is on this machine: asked once by each process."""
    return ask_network_access()


def ask_network_access(
    list_users: Callable[[], tuple[str, ...]] = other_login_users,
    make: Callable[[], PrivateNetwork] = new_private_network,
    root: Path = Path("/"),
) -> NetworkAccess:
    """Ask who can log in and, where that is somebody else, the kernel for a network.

    Args:
        list_users: Names those who can log in besides this user.
        make: Makes a network, to see whether it can be made.
        root: Where the file system begins.
    """
    users = list_users()
    if not users:
        return NetworkAccess()
    try:
        with make():
            return NetworkAccess(other_users=users)
    except NetworkRefusedError as error:
        return NetworkAccess(
            other_users=users, refusal=str(error), allowing_command=_allowing_command(root)
        )


def _allowing_command(root: Path) -> str:
    for name, forbids, permits in _SWITCHES:
        try:
            setting = (root / "proc/sys" / name.replace(".", "/")).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            continue  # this kernel has no such setting
        if setting.strip() == forbids:
            return f"sudo sysctl -w {name}={permits}"
    return ""

"""Why a cluster cannot be used: what Ray said, in words that a person can act on."""

from typing import Final

from gpupanel.domain.child_command import bundled_command
from gpupanel.domain.problem import Problem

_FIELD: Final = "cluster.address"

INSTALL_COMMAND: Final = "pip install 'gpupanel[cluster]'"


def cluster_address_wrong(address: str) -> Problem:
    """What somebody typed is no address."""
    return Problem(
        code="cluster_address_wrong",
        field=_FIELD,
        message=f'"{address[:80]}" cannot be the address of a cluster.',
        hint='Use "auto", or the host and port of its head, such as 10.0.0.1:6379.',
    )


def ray_not_installed(detail: str = "") -> Problem:
    """Ray cannot be imported."""
    message = "Ray is not installed, and a cluster of several machines runs on it."
    hint, command = "Install it on every node, in the same version.", INSTALL_COMMAND
    if bundled_command() is not None:
        message = "This installation brings its own Python, without Ray, which clusters run on."
        hint = "Install gpupanel from PyPI beside it, on every node, in the same version."
        command = f"pipx {INSTALL_COMMAND.removeprefix('pip ')}"
    return Problem(
        code="ray_not_installed",
        field=_FIELD,
        message=message,
        hint=hint,
        command=command,
        detail=detail,
    )


def cluster_not_found(address: str, why: str) -> Problem:
    """Nobody answers at that address, or no cluster runs on this machine."""
    where = "on this machine" if address == "auto" else f"at {address}"
    return Problem(
        code="cluster_not_found",
        field=_FIELD,
        message=f"No Ray cluster answers {where} ({why}).",
        hint="Start its head with ray start --head, or correct the address; ray status shows "
        "whether it runs.",
    )


def cluster_versions_differ(detail: str) -> Problem:
    """The cluster has another Ray or another Python than this process."""
    return Problem(
        code="cluster_versions_differ",
        field=_FIELD,
        message="The cluster was started with another version of Ray or Python than this gpupanel "
        "uses.",
        hint="Install the same versions on every node; the detail names both.",
        detail=detail,
    )


def machine_not_in_cluster(address: str, detail: str) -> Problem:
    """Ray's programs start on a node of their cluster."""
    return Problem(
        code="machine_not_in_cluster",
        field=_FIELD,
        message=f"This machine is not a node of the cluster at {address}, and a run is started "
        "and supervised on one.",
        hint="Join it with ray start and the address of the head; with --num-gpus=0 --num-cpus=0 "
        "it does not train.",
        detail=detail,
    )


def cluster_refused(detail: str) -> Problem:
    """Ray raised what is not known here."""
    return Problem(
        code="cluster_refused",
        field=_FIELD,
        message="The Ray cluster refused the connection.",
        hint="ray status shows whether it is well; the detail has what Ray said.",
        detail=detail,
    )

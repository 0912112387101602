"""Arguments and options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

ProfileArgument = Annotated[
    Path, typer.Argument(metavar="PROFILE", help="A profile: a .toml file.", show_default=False)
]
RunArgument = Annotated[
    str,
    typer.Argument(metavar="RUN", help="A run's name as `gpupanel runs` lists it, or its folder."),
]
RunsDirOption = Annotated[
    Path | None,
    typer.Option(
        "--runs-dir",
        metavar="DIR",
        help="The folder of runs; otherwise $GPUPANEL_RUNS_DIR or the user's data folder.",
        show_default=False,
    ),
]
ClusterAddressArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="ADDRESS",
        help="With --cluster: host:port of its head; otherwise the cluster that this machine is a "
        "node of.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Trust the named Python code in its current version, and remember it: it is executed.",
    ),
]
DetachOption = Annotated[
    bool, typer.Option("--detach", help="Return at once; the run continues in the background.")
]
NowOption = Annotated[
    bool,
    typer.Option(
        "--now",
        help="Start it though its hours have not begun; it is suspended when they end, and "
        "continues when they begin again.",
    ),
]
RunNameOption = Annotated[
    str | None,
    typer.Option(
        "--run-name",
        metavar="NAME",
        help="Use this name; where a run has it already, continue it from its last "
        "checkpoint. For jobs of a batch system that start again.",
        show_default=False,
    ),
]
AllocatedOption = Annotated[
    bool,
    typer.Option(
        "--allocated",
        help="Use the GPUs that CUDA_VISIBLE_DEVICES names, as a batch system sets it for a job, "
        "in the places of those that the profile names.",
    ),
]


def cluster_asked(address: str | None, *, cluster: bool) -> str | None:
    """The address of the cluster that a verb is asked about; ``None``: this machine.

    Raises:
        BadParameter: There is an address, and nobody asked about a cluster.
    """
    if cluster:
        from gpupanel.domain.cluster import AUTO

        return address or AUTO
    if address is not None:
        raise typer.BadParameter("an address needs --cluster", param_hint="ADDRESS")
    return None

"""Which processes are on the chosen GPUs before a run starts."""

from rich.console import Console

from gpupanel.cli.literal_console import styled
from gpupanel.cli.output import NONE_GIVEN, shown
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.planning.prepare import OtherProcesses


def print_gpu_processes(others: tuple[OtherProcesses, ...], console: Console) -> None:
    """Print each GPU that somebody uses, and who holds what of it."""
    for held in others:
        amount = shown(held.memory_mib, "MiB")
        words = f"  {held.device_name}: {amount} held by other processes"
        console.print(styled(("in use", "bold"), words))
        for process in held.processes:
            console.print(f"    {_words(process)}", highlight=False)


def _words(process: DeviceProcess) -> str:
    who = f" of {process.user}" if process.user else ""
    name = process.command or process.name or NONE_GIVEN
    return f"{process.pid}{who}  {shown(process.memory_used_mib, 'MiB')}  {name}"

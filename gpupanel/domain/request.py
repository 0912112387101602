"""What people can ask of a run that goes on: a file each in ``requests/``."""

from enum import StrEnum


class Request(StrEnum):
    """A request; the file that carries it has this name."""

    STOP = "stop"
    """Finish the step, save, end."""
    SUSPEND = "suspend"
    """Finish the step, save a checkpoint, end and free the devices, to be resumed later."""
    SUSPEND_AFTER_EPOCH = "suspend_after_epoch"
    """Suspend it when the epoch has ended whose number the file holds; the model is saved, too."""
    CHECKPOINT = "checkpoint"
    """Save a checkpoint at the next step and go on."""
    END = "end"
    """End at once without saving: the supervisor kills the trainer's process group."""
    TRACE = "trace"
    """Trace some steps and go on; its file holds a :class:`~gpupanel.domain.trace.TraceRequest`."""

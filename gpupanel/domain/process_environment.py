"""Names of environment variables by which a supervisor tells a process of a run who it is."""

SUPERVISOR_PID_VARIABLE = "GPUPANEL_SUPERVISOR_PID"
"""The process compares this with its parent: when they differ it is alone."""

PROCESS_VARIABLE = "GPUPANEL_PROCESS"
"""The place of the process in the plan's gang; not set: 0."""

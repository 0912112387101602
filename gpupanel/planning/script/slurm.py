"""The batch script that trains a profile as a job of Slurm.

What it asks of Slurm was read in sbatch(1), srun(1) and scontrol(1) of Slurm 22.05 and is tried
with its daemons in ``tests/slurm/test_slurm.py``.
"""

import shlex
from typing import Final

from gpupanel import __version__
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_name import slug
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.visible_text import visible_line
from gpupanel.planning.job_nodes import check_for_nodes
from gpupanel.planning.layout import parameter_server_count

SIGNAL_BEFORE_S: Final = 180
"""So long before the time limit a run is asked to suspend: a step has to end, and a checkpoint to
be written. Slurm may send the signal a minute earlier (sbatch(1), ``--signal``)."""

_HEADER = """\
#!/bin/bash
# {title}
# Written by gpupanel {version}. Submit it with `sbatch FILE`.
#
# The profile stands below, whole: what waits in the queue trains what was submitted, whatever
# becomes of the file that it was written from. The node needs nothing but gpupanel.

# ---- What the job asks for. A line with ## is not read: take one # away to use it. ----
#SBATCH --job-name={slug}
##SBATCH --account=NAME
##SBATCH --partition=NAME
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node={tasks}
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=24:00:00
{gpus}
# Both outputs of each start, one after the other; %x is the job's name, %j its number.
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append
"""

_REQUEUED = """\
# This long before the time limit Slurm sends USR1 to this script, which suspends the run and puts
# the job back into the queue. Slurm itself does the latter when a node dies or a job is preempted.
#SBATCH --signal=B:USR1@{signal_s}
#SBATCH --requeue
"""
_NOT_REQUEUED = """\
# Nothing is saved in the middle: the time limit has to be long enough for all of it.
#SBATCH --no-requeue
"""

_PLACES = """
: "${{SLURM_JOB_ID:?submit this script with sbatch}}"

# ---- Where things are. ----
# The command; where the nodes have it elsewhere, change it here, or load its module.
gpupanel={command}
command -v "$gpupanel" >/dev/null || gpupanel=gpupanel
if ! command -v "$gpupanel" >/dev/null; then
    echo "This node has no gpupanel: change the line gpupanel=... of the batch script." >&2
    exit 127
fi
# The folder of runs, which every node has to see.
runs=${{GPUPANEL_RUNS_DIR:-$SLURM_SUBMIT_DIR/gpupanel-runs}}
"""

_RUN_NAME = """\
# A job keeps its number when it starts again, and so finds its run.
run={slug}-$SLURM_JOB_ID
"""

_WORK = """\
# For this start only: the profile, and what gpupanel remembers of a machine. The queue that the
# person has elsewhere is not meant to go on inside of this job.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export GPUPANEL_STATE_DIR=$work/state

# ---- The profile. ----
cat > "$work/profile.toml" <<'END_OF_PROFILE'
{profile}END_OF_PROFILE
"""
"""No line of TOML is a word alone, whatever stands in its strings."""

_SAVED = """
# ---- The run. ----
saved() { ls -1 "$runs/$run/checkpoints" 2>/dev/null | grep -o '^step-[0-9]*' | sort | tail -n 1; }
saved_before=$(saved)  # the step of the last checkpoint

# Asked again until the run has ended: while it starts it hears nothing yet.
asked=
step=
ask() {
    asked=$1
    [ -n "$step" ] || return 0
    while kill -0 "$step" 2>/dev/null; do
        "$gpupanel" "$asked" "$run" --runs-dir "$runs" >/dev/null 2>&1
        sleep 2
    done &
}
trap 'ask suspend' USR1
# scancel, and preemption: the run saves and ends.
trap 'ask stop' TERM
"""
_NOT_SAVED = """
# ---- The run. ----
# scancel: what has been done by then is lost, but the run knows how it ended.
trap : TERM
"""

_STEP = """\

# scancel sends SIGTERM to every process of the step, and Slurm kills what is left of it when its
# task ends: so gpupanel run stays until the run, which hears the signal too, has ended.
srun --nodes=1 --ntasks=1 --cpus-per-task="${{SLURM_CPUS_PER_TASK:-1}}" \\
    bash -c 'trap "" TERM; exec "$@"' gpupanel \\
    "$gpupanel" run "$work/profile.toml" --runs-dir "$runs"{options} &
step=$!
"""

_TASKS = """\

# gpupanel run starts a task for each process of the run by srun, on the nodes that have its GPUs.
# scancel sends SIGTERM to every process of the job: this one stays until the run, which hears the
# signal too, has ended.
export SRUN_CPUS_PER_TASK=${{SLURM_CPUS_PER_TASK:-1}}
(
    trap "" TERM
    exec "$gpupanel" run "$work/profile.toml" --runs-dir "$runs"{options}
) &
step=$!
"""
_EARLY = """\
[ -z "$asked" ] || ask "$asked"  # by a signal that came before there was a step
"""
_WAIT = """\
while :; do
    wait "$step"
    status=$?
    # A signal ends the waiting, too.
    kill -0 "$step" 2>/dev/null || break
done
"""

_END_REQUEUED = """
# 130: it was stopped or suspended, and has saved. A run that fails is not started again.
if [ "$asked" = suspend ] && [ "$status" -eq 130 ]; then
    if [ "$(saved)" = "$saved_before" ]; then
        echo "The time limit came before the run got further than before: it is too short." >&2
        exit 1
    fi
    echo "The run is suspended, and the job goes back into the queue."
    scontrol requeue "$SLURM_JOB_ID" && exit 0
    echo "Slurm does not take it back: submit the script of the run $run again." >&2
fi
exit "$status"
"""
_END = """
exit "$status"
"""


def slurm_script(profile: Profile, command: str, nodes: int = 1) -> str:
    """A batch script that runs the profile on nodes of a cluster, and goes on after the time limit.

    The GPUs are those that Slurm gives to the job, in the places of those that the profile names:
    ``gpupanel run --allocated`` sees to that on the node, which nobody knows here.

    Args:
        profile: With absolute paths.
        command: Of gpupanel where the script is written.
        nodes: How many; on several of them each process of the run is a task of the job.

    Returns:
        Bash, whatever the profile's strings hold.

    Raises:
        ProblemError: The profile trains on one node only.
    """
    check_for_nodes(profile, nodes)
    one = profile.for_one_run
    trains = one.task == "train"
    options = ' --run-name "$run" --allocated' if trains else " --allocated"
    parts = (
        _HEADER.format(
            title=visible_line(one.name),
            version=__version__,
            slug=slug(one.name),
            nodes=nodes,
            tasks=_tasks_per_node(one, nodes),
            gpus=_gpus(one, nodes),
        ),
        _REQUEUED.format(signal_s=SIGNAL_BEFORE_S) if trains else _NOT_REQUEUED,
        _PLACES.format(command=shlex.quote(command)),
        _RUN_NAME.format(slug=slug(one.name)) if trains else "",
        _WORK.format(profile=dump_profile(one)),
        _SAVED if trains else _NOT_SAVED,
        (_STEP if nodes == 1 else _TASKS).format(options=options),
        _EARLY if trains else "",
        _WAIT,
        _END_REQUEUED if trains else _END,
    )
    return "".join(parts)


def _named_gpus(profile: Profile) -> int:
    return len([key for key in profile.devices.visible if key != CPU_KEY])


def _tasks_per_node(profile: Profile, nodes: int) -> int:
    """One, whose run has a process or several; on several nodes one for each process."""
    if nodes == 1:
        return 1
    on_cpu = bool(profile.devices.visible) and not _named_gpus(profile)
    workers = (profile.strategy.workers if on_cpu else _named_gpus(profile)) or nodes
    serving = 0
    if profile.strategy.kind is StrategyKind.PARAMETER_SERVER:
        serving = 1 + parameter_server_count(profile)
    return -(-(workers + serving) // nodes)


def _gpus(profile: Profile, nodes: int) -> str:
    """The GPUs of a node; for a profile that takes all there are, a number to begin with."""
    count = -(-_named_gpus(profile) // nodes)
    if profile.devices.visible and not count:
        return "# The profile trains on the CPU.\n##SBATCH --gres=gpu:1"
    of_each = "" if nodes == 1 else ", on each node"
    if count:
        return (
            f"# As many GPUs as the profile names{of_each and ' on all nodes together'}. Those of "
            f"the job stand in their places.\n#SBATCH --gres=gpu:{count}"
        )
    first = 1 if nodes > 1 or profile.strategy.kind is StrategyKind.ONE_DEVICE else 2
    said = f"# The profile takes every GPU that the job is given{of_each}."
    return f"{said}\n#SBATCH --gres=gpu:{first}"

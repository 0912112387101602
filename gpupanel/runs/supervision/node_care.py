"""What the supervisor does about nodes that are gone: the run continues on those that are left."""

from gpupanel.domain.cluster import devices_of, sample_of
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, ProblemError
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.fewer_nodes import on_nodes_there
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.cluster.reading import read_cluster
from gpupanel.runs.supervision.checked_run import CheckedRun


def plan_without_lost_nodes(
    run: CheckedRun, plan: LaunchPlan
) -> tuple[LaunchPlan, tuple[Change, ...]] | None:
    """Plan a run anew for the nodes that answer; its folder has the new plan then.

    Args:
        run: Its profile is read and changed.
        plan: What it was started with.

    Returns:
        The new plan, and what the profile says otherwise; ``None`` where every node of the plan
        answers, or nothing can be done: what is tried next says why.
    """
    if plan.cluster is None:
        return None
    try:
        reading = read_cluster(plan.cluster.address)
        answering = {node.name for node in reading.answering}
        if all(process.node in answering for process in plan.gang):
            return None
        profile = run.profile()
        fewer = on_nodes_there(profile, devices_of(reading), sample_of(reading))
        if fewer is None:
            return None
        run.amend(*fewer)
    except (OSError, ProblemError) as error:
        write_to_process_log(f"supervisor: not planned for fewer nodes: {error}")
        return None
    return fewer[1], changes_between(profile, fewer[0])

"""Clusters."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Clusters",
    "What is said about a Ray cluster and about a run on its nodes.",
    {
        "ray_not_installed": ProblemEntry(
            "Ray is not installed.",
            "It is optional: one machine needs none of it.",
            "Run the command that is shown, on every node.",
        ),
        "cluster_address_wrong": ProblemEntry(
            "That is no address of a cluster.",
            "It is neither `auto` nor a host and a port.",
            "Write it as `10.0.0.1:6379`.",
        ),
        "cluster_not_found": ProblemEntry(
            "No Ray cluster answers.",
            "Its head does not run, the address is another one, or a firewall is between.",
            "Start the head, or correct the address.",
        ),
        "cluster_versions_differ": ProblemEntry(
            "The cluster was started with another version of Ray or Python.",
            "Ray's programs work with their own version only.",
            "Install the same versions on every node.",
        ),
        "machine_not_in_cluster": ProblemEntry(
            "This machine is not a node of the cluster.",
            "A run is started and supervised on one of its nodes.",
            "Join the cluster with `ray start`; without CPUs and GPUs this machine does not train.",
        ),
        "cluster_refused": ProblemEntry(
            "The cluster refused the connection.",
            "The details have what Ray said.",
            "See whether the cluster is well with `ray status`.",
        ),
        "cluster_not_started": ProblemEntry(
            "The process that asks the cluster could not be started.",
            "The system refused the process.",
            "Free some memory, and try again.",
        ),
        "cluster_too_slow": ProblemEntry(
            "The cluster did not answer in time.",
            "Its head is very busy, or hangs.",
            "See whether the cluster is well with `ray status`.",
        ),
        "cluster_died": ProblemEntry(
            "The process that asks the cluster ended.",
            "Ray ends its programs when the head of the cluster goes away.",
            "See whether the head is there with `ray status`.",
        ),
        "cluster_unreadable": ProblemEntry(
            "The process that asks the cluster gave an unreadable answer.",
            "This is a defect of gpupanel.",
            "Report it with the details.",
        ),
    },
)

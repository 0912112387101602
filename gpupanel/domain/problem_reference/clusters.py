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
            "That cannot be the address of a cluster.",
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
        "cluster_not_asked": ProblemEntry(
            "The profile trains on a cluster whose devices are not known here.",
            "What was asked knows this machine only; the window, the terminal, `gpupanel.api`, the "
            "queue and sweeps ask clusters. In the window, the session may have the devices of "
            "other machines than the run that was to continue.",
            "Use one of these, choose the cluster of the run in the session, or remove "
            "`[cluster]`.",
        ),
        "cluster_needs_workers": ProblemEntry(
            "The strategy is one process, which is on one machine.",
            "A cluster divides the work among processes on its nodes.",
            "Use `multi_worker`, or for a training `parameter_server`.",
        ),
        "nodes_have_other_files": ProblemEntry(
            "A node has another model or other data under the same path.",
            "Each node reads data and model by itself, and outputs of all are put together.",
            "Keep both in a folder that every node has, or copy the same files to every node.",
        ),
        "worker_across_nodes": ProblemEntry(
            "A worker would have GPUs of several nodes.",
            "The number of workers divides the GPUs so.",
            "Use a worker for each GPU.",
        ),
        "cluster_network_missing": ProblemEntry(
            "A node has no address in the network that the profile names.",
            "The interface is called otherwise there, or the subnet is another one.",
            "Set `cluster.network` to what every node has; the details list what this one has.",
        ),
        "run_folder_not_shared": ProblemEntry(
            "A node does not see the run's folder, or may not write there.",
            "Runs are kept on a disk of one machine.",
            "Keep them in a folder that every node has under the same path.",
        ),
        "cluster_gpupanel_differs": ProblemEntry(
            "A node has another version of gpupanel.",
            "It was not updated together with the others.",
            "Install the same version on every node.",
        ),
        "node_not_ready": ProblemEntry(
            "A node cannot start its part of the run.",
            "Ray's Python does not find gpupanel there, or the node is very busy.",
            "See which nodes answer with `gpupanel devices --cluster`.",
        ),
        "node_not_in_cluster": ProblemEntry(
            "A node of the run is not in the cluster now.",
            "It was ended or lost, or is called otherwise.",
            "Start it again, or resume the run with a profile for the nodes that are there.",
        ),
        "cluster_gives_other_gpus": ProblemEntry(
            "Ray has reserved other GPUs of a node than the profile names.",
            "Ray counts GPUs, and others of its programs have reserved some of that node.",
            "Choose all GPUs of a node, or those that are free; where GPUs of a node are unequal, "
            "start Ray there with `CUDA_DEVICE_ORDER=PCI_BUS_ID`.",
        ),
        "cluster_too_small": ProblemEntry(
            "A node can never give the run what it needs there.",
            "Ray was started with fewer CPUs or GPUs than the run has processes there.",
            "Use fewer workers, or start the node with more.",
        ),
        "cluster_waiting": ProblemEntry(
            "The run waits for its place in the cluster.",
            "Other programs have reserved what it needs.",
            "Wait, or stop it; the message says what is missing.",
        ),
        "cluster_ports_open": ProblemEntry(
            "The processes of the run communicate over ports without authentication.",
            "TensorFlow's servers have none; each listens on the cluster's network only.",
            "Set `cluster.network` to one that only the nodes reach; the details list the ports.",
        ),
        "cluster_head_silent": ProblemEntry(
            "The head of the cluster does not answer, while the run still trains.",
            "It ended, or the network to it is broken.",
            "Start it again; otherwise the run ends with a checkpoint.",
        ),
        "cluster_lost": ProblemEntry(
            "The connection to the cluster broke.",
            "Its head ended, or cannot be reached, or the process that held the connection ended.",
            "Start the cluster again, and resume the run.",
        ),
        "node_lost": ProblemEntry(
            "A node of the run was lost.",
            "Its machine or its raylet ended, or the network to it is broken.",
            "With `max_restarts` the run continues on the others; otherwise resume it.",
        ),
        "node_not_answering": ProblemEntry(
            "A node of the cluster does not take part.",
            "It was lost, is very busy, or does not have gpupanel.",
            "Start its raylet again, or install gpupanel there.",
        ),
        "node_without_tensorflow": ProblemEntry(
            "A node has no TensorFlow.",
            "It is not installed in the Python that Ray was started with.",
            "Install it there.",
        ),
        "node_versions_differ": ProblemEntry(
            "A node has another version of gpupanel, TensorFlow or Python.",
            "It was not updated together with the others.",
            "Install the same versions on every node.",
        ),
        "node_without_driver": ProblemEntry(
            "Ray gives away GPUs of a node where no NVIDIA driver answers.",
            "Ray was started with `--num-gpus`, or the driver went away.",
            "Run `gpupanel doctor` on that node.",
        ),
        "node_without_folder": ProblemEntry(
            "A node does not see the folder of runs.",
            "Runs are kept on a disk of one machine.",
            "Keep them in a folder that every node has under the same path.",
        ),
        "node_clock_differs": ProblemEntry(
            "The clock of a node differs from this machine's.",
            "It is not set by the network.",
            "Run `timedatectl set-ntp true` on every node.",
        ),
        "cluster_network_public": ProblemEntry(
            "A node is known to the cluster by an address of the internet.",
            "Ray took the address of the first interface, or was given that one.",
            "Join the nodes by a network of their own, or name one as `cluster.network`.",
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

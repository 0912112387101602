"""Every rule of findings, in the order in which they are found."""

from collections.abc import Callable, Iterator
from typing import Final

from gpupanel.domain.finding import Finding
from gpupanel.planning.findings import (
    batch_findings,
    clock_findings,
    data_findings,
    host_findings,
    learning_findings,
    link_findings,
    measured_findings,
    memory_findings,
    precision_findings,
    replica_findings,
    sharing_findings,
    validation_findings,
)
from gpupanel.planning.findings.context import FindingContext

FindingRule = Callable[[FindingContext], Iterator[Finding]]
"""Yields nothing where what it asks for is not known, or was watched for too short a time."""

FINDING_RULES: Final[tuple[FindingRule, ...]] = (
    data_findings.training_waits_for_data,
    validation_findings.validation_takes_long,
    batch_findings.batch_too_small,
    replica_findings.straggler,
    replica_findings.exchange_bound,
    link_findings.slow_pcie_link,
    clock_findings.throttling,
    sharing_findings.other_process_on_gpu,
    sharing_findings.other_process_on_cpu,
    host_findings.swap_growing,
    host_findings.cpu_quota,
    memory_findings.growth_fragmentation,
    precision_findings.mixed_precision_helps,
    measured_findings.xla_helps,
    learning_findings.overfitting,
    learning_findings.does_not_learn,
    learning_findings.best_epoch_long_ago,
)

CLUSTER_FINDING_RULES: Final[tuple[FindingRule, ...]] = (
    data_findings.training_waits_for_data,
    validation_findings.validation_takes_long,
    replica_findings.straggler,
    replica_findings.exchange_bound,
    learning_findings.overfitting,
    learning_findings.does_not_learn,
    learning_findings.best_epoch_long_ago,
)
"""Those that need nothing but what the training itself reports, whichever nodes it is on. The
others ask about the machine that they are asked on."""

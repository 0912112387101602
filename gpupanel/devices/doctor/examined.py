"""All that the doctor examined, before anything is concluded from it."""

from dataclasses import dataclass, replace

from gpupanel.devices.doctor.environment import HostEnvironment
from gpupanel.devices.probes.driver_probe import DriverFacts
from gpupanel.devices.probes.tensorflow_refusals import Refusal
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import Problem
from gpupanel.domain.tensorflow_facts import CudaFacts, TensorFlowBuild, TensorFlowFacts


@dataclass(frozen=True, slots=True)
class Examined:
    """What was seen on this machine.

    Attributes:
        tensorflow: ``None`` when TensorFlow did not get to answer; then there is a problem.
        tensorflow_log: The end of what TensorFlow wrote.
        refusals: The GPUs that it says it passes over.
        tensorflow_package: The name of the package that it is installed from.
        visible_devices: ``CUDA_VISIBLE_DEVICES``; ``None`` when it is not set.
        least_multiprocessors: ``TF_MIN_GPU_MULTIPROCESSOR_COUNT``; ``None`` when it is not set.
        spoiled: What of elsewhere keeps TensorFlow from being imported; ``None``: nothing known.
        environment_problems: What of elsewhere stands before what is installed.
        shell_variables: The names of others that a run begins without, or obeys and is changed by.
    """

    driver: DriverFacts
    host: HostEnvironment
    tensorflow: TensorFlowFacts | None
    tensorflow_problem: Problem | None = None
    tensorflow_log: str = ""
    refusals: tuple[Refusal, ...] = ()
    tensorflow_package: str = "tensorflow"
    visible_devices: str | None = None
    least_multiprocessors: str | None = None
    spoiled: Problem | None = None
    environment_problems: tuple[Problem, ...] = ()
    shell_variables: tuple[str, ...] = ()

    def about(self, gpus: tuple[PhysicalDevice, ...]) -> "Examined":
        """The same as if these were all the GPUs that the driver lists."""
        return replace(self, driver=self.driver.model_copy(update={"gpus": gpus}))

    @property
    def gpus(self) -> tuple[PhysicalDevice, ...]:
        """What can compute: whole GPUs and MIG instances."""
        return tuple(gpu for gpu in self.driver.gpus if not gpu.is_partitioned)

    @property
    def working_tensorflow(self) -> TensorFlowFacts | None:
        """TensorFlow's answer, if it can be imported."""
        facts = self.tensorflow
        return None if facts is None or facts.version is None else facts

    @property
    def cuda_build(self) -> TensorFlowBuild | None:
        """What TensorFlow was built for, if it can be imported and was built with CUDA."""
        facts = self.working_tensorflow
        return facts.build if facts is not None and facts.is_cuda_build else None

    @property
    def cuda(self) -> CudaFacts | None:
        """What the CUDA driver shows; ``None`` when it was not asked."""
        facts = self.working_tensorflow
        return None if facts is None else facts.cuda

    @property
    def sees_fewer_gpus(self) -> bool:
        """Whether TensorFlow works and lists fewer GPUs than the driver."""
        facts = self.working_tensorflow
        return facts is not None and len(facts.gpus) < len(self.gpus)

    @property
    def gpu_names(self) -> str:
        """The GPUs of the driver, for a sentence."""
        return ", ".join(gpu.name for gpu in self.gpus)

"""What the probe process answers."""

from gpupanel.domain.tensorflow_facts import SharedLibrary, TensorFlowFacts, TensorFlowGpu


def test_that_a_library_counts_as_found_when_it_has_a_place() -> None:
    assert SharedLibrary(soname="libcudnn.so.9", path="/lib/libcudnn.so.9").was_found
    assert not SharedLibrary(soname="libcudnn.so.9", error="wrong ELF class").was_found


def test_that_facts_survive_the_way_through_json() -> None:
    facts = TensorFlowFacts(
        version="2.21.0",
        is_cuda_build=True,
        cuda_version="12.5.1",
        compute_capabilities=("sm_89",),
        gpus=(TensorFlowGpu(name="RTX 4090", compute_capability=(8, 9)),),
        libraries=(SharedLibrary(soname="libcuda.so.1", path="/lib/libcuda.so.570.86.15"),),
    )

    assert TensorFlowFacts.model_validate_json(facts.model_dump_json()) == facts

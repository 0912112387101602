"""What TensorFlow reports about itself."""

from gpupanel.domain.tensorflow_facts import SharedLibrary, TensorFlowBuild, TensorFlowFacts


def test_that_a_build_is_what_stays_without_the_devices() -> None:
    facts = TensorFlowFacts(
        version="2.21.0",
        is_cuda_build=True,
        cuda_version="12.5.1",
        cudnn_version="9",
        compute_capabilities=("sm_89",),
    )
    assert facts.build == TensorFlowBuild(
        version="2.21.0",
        is_cuda_build=True,
        cuda_version="12.5.1",
        compute_capabilities=("sm_89",),
    )


def test_that_a_tensorflow_that_cannot_be_imported_has_no_build() -> None:
    assert TensorFlowFacts(import_error="no module").build is None


def test_that_a_library_with_a_path_was_found() -> None:
    found = SharedLibrary(soname="libcudart.so.12", path="/usr/lib/libcudart.so.12")
    assert found.was_found
    assert not SharedLibrary(soname="libcudart.so.12", error="no such file").was_found

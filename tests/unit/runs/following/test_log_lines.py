"""What kind of line a log has: lines as TensorFlow 2.19 to 2.21 wrote them."""

import time

import pytest

from gpupanel.runs.following.log_lines import LineKind, line_kind

START_UP = (
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
    "I0000 00:00:1795417079.082141   22214 port.cc:153] oneDNN custom operations are on.",
    "I0000 00:00:1795417079.082930   22214 cudart_stub.cc:31] Could not find cuda drivers",
    "To enable the following instructions: AVX2 AVX512F, in other operations, rebuild TensorFlow",
    (
        "E0000 00:00:1795417082.356763   22214 cuda_platform.cc:52] failed call to cuInit: "
        "INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)"
    ),
    (
        "E0000 00:00:1730000000.123456    1 cuda_dnn.cc:8454] Unable to register cuDNN factory: "
        "Attempting to register factory for plugin cuDNN when one has already been registered"
    ),
    "2026-11-24 03:46:15.123456: I tensorflow/core/framework/rendezvous.cc:1] aborting",
    (
        "2026-11-24 03:46:15.123456: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] "
        "TF-TRT Warning: Could not find TensorRT"
    ),
)
WARNINGS = (
    "W0000 00:00:1795417082.356763   22214 gpu_device.cc:2344] Cannot dlopen some GPU libraries.",
    "2026-11-24 03:46:15.123456: W tensorflow/core/framework/cpu_allocator.cc:82] Allocation",
    "/x/model.py:12: UserWarning: something is deprecated",
    "WARNING:tensorflow:AutoGraph could not transform",
    "DeprecationWarning: old",
)
ERRORS = (
    "E0000 00:00:1.5   22214 cuda_platform.cc:52] failed call to cuInit: CUDA_ERROR_UNKNOWN (999)",
    "2026-11-24 03:46:15.123456: F tensorflow/core/x.cc:1] Check failed",
    "Traceback (most recent call last):",
    " | ValueError: no such layer",
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM",
    "KeyboardInterrupt",
    "Fatal Python error: Segmentation fault",
)
PLAIN = ("", "epoch 1 of 3", "Warnings are off", "I0000", "  indented", "an Error in a sentence")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        *((line, LineKind.START_UP) for line in START_UP),
        *((line, LineKind.WARNING) for line in WARNINGS),
        *((line, LineKind.ERROR) for line in ERRORS),
        *((line, LineKind.PLAIN) for line in PLAIN),
    ],
)
def test_that_a_line_is_of_its_kind(line, kind):
    assert line_kind(line) is kind


def test_that_the_frames_of_a_traceback_belong_to_it():
    kinds, before = [], LineKind.PLAIN
    for line in ("Traceback (most recent call last):", '  File "x", line 1', "ValueError: y", "on"):
        before = line_kind(line, before)
        kinds.append(before)
    assert kinds == [LineKind.ERROR] * 3 + [LineKind.PLAIN]


@pytest.mark.parametrize("part", [".a", "Error", "|  ", "W0000 1 1 ", "0:", "a:1: "])
def test_that_no_line_takes_long(part):
    began = time.perf_counter()
    for length in (1_000, 1_000_000):
        line_kind(part * (length // len(part)))
    assert time.perf_counter() - began < 0.5

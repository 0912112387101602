"""TensorFlow's allocator that asks a full GPU for the same again and again is noticed."""

from pathlib import Path

from gpupanel.runs.supervision.memory.reading import AllocationWatch

# As TensorFlow 2.21 said it of a GPU of which others had all.
LINE = (
    "I0000 00:00:1795879690.844257   22792 cuda_executor.cc:522] failed to allocate {size} from "
    "device: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"
)
AGAIN = LINE.format(size="2.2KiB (2304 bytes)")


def test_that_only_what_goes_on_is_endless(tmp_path: Path) -> None:
    log = tmp_path / "trainer.log"
    watch = AllocationWatch(log)
    assert not watch.is_endless()  # there is no log yet
    # An allocator that ends asks for a tenth less each time.
    log.write_text("".join(LINE.format(size=f"1KiB ({256 * n} bytes)") for n in range(900, 0, -1)))
    assert not watch.is_endless()
    with log.open("a") as file:
        file.write(AGAIN * 100)
    assert not watch.is_endless()
    assert not watch.is_endless()
    with log.open("a") as file:
        file.write(AGAIN * 50_000)
    assert watch.is_endless()
    assert not watch.is_endless()  # what was read is not read again

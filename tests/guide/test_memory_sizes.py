"""The sizes of the page about memory are those that planning counts with."""

import re

from gpupanel.domain.memory import kept_aside_mib
from tests.guide.pages import GUIDE
from tests.tensorflow_gpu.test_cards import CONTEXT_MIB, SIZES

ROW = re.compile(r"\| ([\d,]+) \| (\d+\.\d) \| " + r" \| ".join([r"([\d,]+)"] * 4) + r" \|")


def test_that_the_table_of_sizes_is_what_planning_says_and_the_tests_have_seen() -> None:
    rows = ROW.findall((GUIDE / "memory.md").read_text(encoding="utf-8"))
    assert [(int(row[0].replace(",", "")), row[1]) for row in rows] == list(SIZES)
    for row in rows:
        total, free, kept, growth, limit = (int(row[i].replace(",", "")) for i in (0, 2, 3, 4, 5))
        major, minor = map(int, row[1].split("."))
        assert free == total - CONTEXT_MIB
        # TensorFlow takes memory in steps of 2 MiB; of one more it got nine tenths.
        assert limit == free // 2 * 2
        assert kept == kept_aside_mib(free, (major, minor))
        assert growth == free - kept

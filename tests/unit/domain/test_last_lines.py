"""The end of a process's log, which says why it ended."""

from gpupanel.domain.last_lines import last_lines


def test_that_the_last_twelve_lines_are_left_and_no_blank_ones_around_them() -> None:
    log = "\n".join(f"line {number}" for number in range(20))
    expected = "\n".join(f"line {number}" for number in range(8, 20))
    assert last_lines(f"\n{log}\n\n") == expected
    assert last_lines("one\r\ntwo\n") == "one\ntwo"
    assert last_lines("  \n") == ""


def test_that_a_line_of_megabytes_is_shown_by_its_end() -> None:
    shown = last_lines("x" * 2**20 + "the end\n")
    assert shown.endswith("xthe end")
    assert len(shown) == 2**14

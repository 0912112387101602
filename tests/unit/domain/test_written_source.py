"""The text that scripts take for reading numbers and dates."""

from typing import Any

from gpupanel.domain.written_source import labels_source, written_source


def test_that_the_text_reads_alone() -> None:
    names: dict[str, Any] = {}
    exec(written_source(), names)
    assert names["number_in"]("1,234.5", names["NumberForm"](".", ",")) == 1234.5
    assert names["date_in"]("1/31/70", "mdy") == 30
    assert "gpupanel" not in written_source()


def test_that_the_text_for_labels_reads_alone() -> None:
    names: dict[str, Any] = {}
    exec(labels_source(), names)
    assert names["NamedImages"]("/d", ["a.png"]).places(["x/A"]) == [0]
    assert names["tags_in"]("a;b", names["tag_separator"](["a;b"])) == ("a", "b")
    assert "gpupanel" not in labels_source()

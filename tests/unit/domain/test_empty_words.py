"""Words that mean that a cell holds nothing."""

from gpupanel.domain.empty_words import WORDS_OF_PEOPLE, WORDS_OF_PROGRAMS, empty_words


def test_that_words_that_may_be_names_are_names_until_somebody_says_otherwise() -> None:
    found = empty_words(None)
    assert found.in_numbers == {*WORDS_OF_PROGRAMS, *WORDS_OF_PEOPLE}
    assert found.in_names == set(WORDS_OF_PROGRAMS)
    assert found.unsure == {"NA", "N/A", "n/a", "None", "?", "-"}


def test_that_chosen_words_mean_nothing_and_no_others_where_names_are() -> None:
    found = empty_words((" None ", "999"))
    assert found.in_names == {"None", "999"}
    assert {"NaN", "NA", "None", "999"} <= found.in_numbers
    assert not found.unsure
    assert not empty_words(()).in_names


def test_that_words_that_are_numbers_are_known_as_numbers() -> None:
    assert empty_words(None).numbers == ()
    assert sorted(empty_words(("-999", "1e20", "x9", "9.5")).numbers) == [-999.0, 9.5, 1e20]

"""A profile's name becomes letters that nothing reads otherwise; a run is named as a folder."""

import pytest

from gpupanel.domain.run_name import is_run_name, slug


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Digits on two replicas", "digits-on-two-replicas"),
        ("  --Ümläut--  ", "ml-ut"),
        ("$(touch x); `id` \"'\n#SBATCH --wrap", "touch-x-id-sbatch-wrap"),
        ("数字", "run"),
        ("a" * 39 + " b", "a" * 39),
    ],
)
def test_that_a_name_becomes_letters_numbers_and_dashes(name: str, letters: str) -> None:
    assert slug(name) == letters
    assert is_run_name(slug(name))


@pytest.mark.parametrize("name", ["digits-12", "A.b_c-1", "_", "a" * 128])
def test_that_a_run_may_be_named_as_a_plain_folder(name: str) -> None:
    assert is_run_name(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "-o", "a/b", "/etc", "a b", "a\n", "é", "a" * 129, "a\0"]
)
def test_that_a_name_reaches_no_other_folder_and_is_no_option(name: str) -> None:
    assert not is_run_name(name)

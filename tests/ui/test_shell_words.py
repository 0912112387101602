"""Arguments and variables of a program are typed in one line, as in a shell."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpupanel.ui.inputs.shell_words import ArgumentsEdit, ValuesEdit, VariablesEdit

ARGUMENTS = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12))
NAMES = st.from_regex(r"[A-Z_]{1,8}x", fullmatch=True)


@pytest.fixture
def arguments(qtbot: QtBot) -> ArgumentsEdit:
    line = ArgumentsEdit(placeholder="none")
    qtbot.addWidget(line)
    return line


@pytest.fixture
def variables(qtbot: QtBot) -> VariablesEdit:
    line = VariablesEdit(placeholder="none")
    qtbot.addWidget(line)
    return line


def typed(line: ArgumentsEdit | VariablesEdit, text: str) -> None:
    line.clear()
    QTest.keyClicks(line, text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("--epochs 5", ("--epochs", "5")),
        ('--name "a b"  --x', ("--name", "a b", "--x")),
        ("--name 'it is' \"it's\"", ("--name", "it is", "it's")),
        (r"a\ b", ("a b",)),
        ("# $HOME *.py ~", ("#", "$HOME", "*.py", "~")),
        ("''", ("",)),
        ("  ", ()),
    ],
)
def test_that_a_line_is_divided_as_a_shell_does_it(
    arguments: ArgumentsEdit, text: str, meant: tuple[str, ...]
) -> None:
    typed(arguments, text)
    assert (arguments.value(), arguments.error()) == (meant, "")


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=ARGUMENTS)
def test_that_arguments_come_back_as_they_are_shown(
    arguments: ArgumentsEdit, words: list[str]
) -> None:
    arguments.setValue(tuple(words))
    shown = arguments.text()
    arguments.setValue(("something else",))
    arguments.setText(shown)
    arguments.textEdited.emit(shown)
    assert arguments.value() == tuple(words)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('--name "a b', "A quotation mark is not closed."),
        ("--name 'a b", "A quotation mark is not closed."),
        ("--name a\\", "A backslash at the end has nothing behind it."),
    ],
)
def test_that_a_line_that_cannot_be_divided_is_refused_and_the_last_arguments_hold(
    arguments: ArgumentsEdit, text: str, why: str
) -> None:
    arguments.setValue(("--epochs", "5"))
    arguments.setText(text)
    arguments.textEdited.emit(text)
    assert (arguments.value(), arguments.error()) == (("--epochs", "5"), why)
    arguments.discard()
    assert (arguments.text(), arguments.error()) == ("--epochs 5", "")


def test_that_names_in_braces_need_no_quotation_marks(arguments: ArgumentsEdit) -> None:
    arguments.setValue(("--lr={lr}", "a b", "{opt}", "$x"))
    assert arguments.text() == "--lr={lr} 'a b' {opt} '$x'"


def test_that_more_arguments_than_a_profile_holds_are_refused(arguments: ArgumentsEdit) -> None:
    arguments.textEdited.emit("a " * 1_001)
    assert arguments.error() == "There may be 1,000 at most, and these are 1,001."
    arguments.textEdited.emit("a\0b")
    assert arguments.error() == "It has a NUL character, which no program can be given."


def test_that_variables_are_written_as_before_a_command(variables: VariablesEdit) -> None:
    typed(variables, 'SEED=1 NAME="a b" EMPTY= URL=http://x/?a=b')
    meant = {"SEED": "1", "NAME": "a b", "EMPTY": "", "URL": "http://x/?a=b"}
    assert (variables.value(), variables.error()) == (meant, "")
    variables.setValue({"A": "x y"})
    assert variables.text() == "A='x y'"


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_=st.dictionaries(NAMES, st.text(st.characters(exclude_categories=["Cs", "Cc"]))))
def test_that_variables_come_back_as_they_are_shown(
    variables: VariablesEdit, given_: dict[str, str]
) -> None:
    variables.setValue(given_)
    shown = variables.text()
    variables.setValue({"OTHER": "1"})
    variables.setText(shown)
    variables.textEdited.emit(shown)
    assert variables.value() == given_


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SEED", "“SEED” is no variable: write NAME=value."),
        ("SEED=1 SEED=2", "“SEED” is set twice."),
        ("2ND=1", "the name of a variable has letters, digits and _ only"),
        ("CUDA_VISIBLE_DEVICES=0", "devices and memory are chosen in the profile"),
        ("GPUPANEL_RUN=x", "devices and memory are chosen in the profile"),
    ],
)
def test_that_what_is_no_variable_of_a_program_is_refused(
    variables: VariablesEdit, text: str, why: str
) -> None:
    typed(variables, text)
    assert why in variables.error()


def test_that_values_are_what_is_written(qtbot: QtBot) -> None:
    line = ValuesEdit(placeholder="none")
    qtbot.addWidget(line)
    line.clear()
    QTest.keyClicks(line, "lr=0.1 n=5 is_on=true name='a b' odd=1e-3 big=1e999 none=")
    assert line.error() == ""
    meant = {"lr": 0.1, "n": 5, "is_on": True, "name": "a b", "odd": "1e-3", "big": "1e999"}
    assert line.value() == {**meant, "none": ""}
    assert [type(each) for each in line.value().values()][:3] == [float, int, bool]
    line.setValue({"lr": 0.1, "is_on": False})
    assert line.text() == "lr=0.1 is_on=false"

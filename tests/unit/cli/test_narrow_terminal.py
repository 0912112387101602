"""What the terminal prints where it is narrow, or is a pipe: help whole, names whole."""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from rich.table import Table
from typer.testing import CliRunner

from gpupanel.cli import output
from gpupanel.cli.app import app
from gpupanel.cli.literal_console import LiteralConsole
from gpupanel.cli.verb_group import OPEN, VERBS, program_of
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from tests.fakes.run_directory import WrittenRun

LONG = "efficientnet-with-a-name-of-some-length-b4"


def calls() -> Iterator[list[str]]:
    """Every verb, and every verb of a verb."""
    yield []
    for verb in (OPEN, *VERBS):
        yield [verb]
        (group,) = [*program_of(verb).registered_groups, None][:1]
        if group is not None and group.typer_instance is not None:
            for inner in group.typer_instance.registered_commands:
                assert inner.callback is not None
                yield [verb, inner.name or inner.callback.__name__]


@pytest.mark.parametrize("width", [60, 80])
def test_that_every_help_is_whole_and_fits_a_narrow_terminal(width: int) -> None:
    for words in calls():
        help_ = CliRunner().invoke(app, [*words, "--help"], terminal_width=width)
        assert help_.exit_code == 0
        printed = help_.stdout
        too_long = [line for line in printed.splitlines() if len(line) > width]
        assert not too_long, words
        assert "..." not in printed.replace("[ARGS]...", ""), words  # nothing is cut
        assert "<int range>" not in printed.replace("PLACE <int range>", ""), words
        assert "[[" not in printed


def declared_help() -> Iterator[tuple[list[str], str]]:
    command = typer.main.get_command(app)
    for words in calls():
        found, context = command, typer.Context(command)
        for word in words:
            found = found.get_command(context, word)  # type: ignore[attr-defined]
        yield words, str(found.help)
        for parameter in found.params:
            yield words, str(parameter.help or "")  # type: ignore[attr-defined]


def test_that_brackets_of_a_help_are_text() -> None:
    brackets = 0
    for words, said in declared_help():
        printed = CliRunner().invoke(app, [*words, "--help"], terminal_width=80).stdout
        # Paragraphs are folded anew, and words at their hyphens.
        squeezed = re.sub(r"\s", "", printed)
        assert re.sub(r"\s", "", said) in squeezed, words
        brackets += said.count("[")
    assert brackets >= 2  # [sweep], [PROFILE|PROGRAM|RUN]


def table() -> Table:
    made = Table(box=None, pad_edge=False)
    for title in ("run", "started", "outcome", "where it is", "notes"):
        made.add_column(title, overflow="fold")
    made.add_row(LONG, "2026-11-28 14:44", "completed", f"/home/{LONG}/runs/{LONG}", "of a kind")
    return made


def printed(made: Table, *, width: int, is_terminal: bool) -> list[str]:
    file = io.StringIO()
    LiteralConsole(file=file, width=width, force_terminal=is_terminal, color_system=None).print(
        made
    )
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_that_a_pipe_has_a_line_for_each_row() -> None:
    title, row = printed(table(), width=20, is_terminal=False)
    assert title.split() == ["run", "started", "outcome", "where", "it", "is", "notes"]
    assert row.startswith(f"{LONG}  2026-11-28 14:44  completed  /home/{LONG}/runs/{LONG}  ")


@pytest.mark.parametrize(
    ("width", "kept", "left_out"),
    [
        (200, 5, ""),
        (100, 5, ""),
        (80, 3, "where it is, notes"),
        (60, 2, "outcome, where it is, notes"),
        (44, 1, "started, outcome, where it is, notes"),
        (20, 1, "started, outcome, where it is, notes"),
    ],
)
def test_that_a_narrow_terminal_leaves_columns_out_and_no_name_in_pieces(
    width: int, kept: int, left_out: str
) -> None:
    made = table()
    lines = printed(made, width=width, is_terminal=True)
    assert any(line.startswith(LONG) for line in lines)
    assert all(len(line) <= max(width, len(LONG)) for line in lines)
    assert len(made.columns) == kept
    said = re.sub(r"\s+", " ", " ".join(lines))
    assert (f"Left out, as there is no room: {left_out}." in said) is bool(left_out)


def test_that_the_names_of_runs_are_whole_at_80_columns_and_in_a_pipe(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WrittenRun(runs_dir, Profile(name=LONG)) as run:
        run.begin()
        run.step(15)
        run.end()
    piped = CliRunner().invoke(app, ["runs"]).stdout.splitlines()
    monkeypatch.setattr(output.answers, "_force_terminal", True)
    monkeypatch.setattr(output.answers, "width", 80)
    narrow = CliRunner().invoke(app, ["runs"]).stdout
    assert len(piped) == 2
    assert piped[1].split()[0] == run.layout.name
    assert run.layout.name in narrow
    assert "Left out" in narrow


def test_that_a_problem_is_printed_with_the_code_by_which_the_guide_lists_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.print_problems([Problem(code="no_space", message="There is no space.", field="data")])
    said = capsys.readouterr().err
    assert said == "error data  There is no space. [no_space]\n"


@pytest.mark.parametrize(
    ("word", "meant"), [("rnu", "run"), ("stopp", "stop"), ("Chekc", "check"), ("qqqqq", None)]
)
def test_that_a_mistyped_verb_is_an_unknown_verb_and_no_missing_display(
    word: str, meant: str | None, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = refusal([word, "profile.toml"], monkeypatch)
    assert "[verb_unknown]" in said
    assert (f"Did you mean `gpupanel {meant}`?" in said) is (meant is not None)


def test_that_a_run_is_opened_by_its_name(runs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with WrittenRun(runs_dir, Profile(name="rnu")) as run:
        run.begin()
        run.end()
    named = run.layout.root.rename(run.layout.root.parent / "rnu")
    opened: list[Path | None] = []
    monkeypatch.setattr("gpupanel.cli.verbs.open.missing_display", lambda: None)
    monkeypatch.setattr("gpupanel.cli.verbs.open.missing_libraries", lambda: None)
    monkeypatch.setattr(
        "gpupanel.ui.app.open_window", lambda target, *_: opened.append(target) or 0
    )
    from gpupanel.cli.app import with_verb

    assert CliRunner().invoke(app, with_verb(["rnu"])).exit_code == 0
    assert opened == [named]


def refusal(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    from gpupanel.cli.app import main

    file = io.StringIO()
    monkeypatch.setattr(output.progress, "_file", file)
    monkeypatch.setattr(sys, "argv", ["gpupanel", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    return file.getvalue()

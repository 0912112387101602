"""Whatever a name, a path, a label or a message holds, a terminal shows what stands there."""

import ast
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from gpupanel.cli import app as command
from gpupanel.cli import output
from gpupanel.cli.literal_console import LiteralConsole
from gpupanel.cli.verbs import devices as devices_verb
from gpupanel.cli.verbs import doctor as doctor_verb
from gpupanel.devices.doctor.report import DoctorReport, PackageVersion
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.events import ProblemReported, RunRestarted, TrainerStarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.visible_text import visible_line, visible_lines
from gpupanel.runs.history.label import change_label
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from tests.fakes.examined import RTX_4090
from tests.fakes.readings import EIGHT_DEVICES
from tests.fakes.run_directory import WrittenRun

CLI = Path(command.__file__).parent
MARKUP = "[bold]x[/bold] [/y] [red]:smile:"
HOSTILE = f"a\x1b]0;title\x07\x9b2J\x7f\u202etxt\u2066\u200f{MARKUP}\u2028\r\nforged\tline\x85"
SHOWN = rf"a\x1b]0;title\x07\x9b2J\x7f\u202etxt\u2066\u200f{MARKUP}\u2028\r\nforged\tline\x85"
PROBLEM = Problem(
    code="hostile",
    field=HOSTILE,
    message=HOSTILE,
    hint=HOSTILE,
    detail=HOSTILE,
    command=HOSTILE,
    fix=Fix(label=HOSTILE, changes=(Change(path=(HOSTILE,), value=HOSTILE),)),
    alternatives=(Fix(label=HOSTILE, changes=(Change(path=(HOSTILE,)),)),),
)


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """So wide that no word is folded."""
    for console in (output.answers, output.progress):
        monkeypatch.setattr(console, "width", 2000)


def done(*arguments: str) -> tuple[str, str]:
    """What a verb says on standard output and on standard error, none of which acts."""
    answer = CliRunner().invoke(command.app, arguments)
    assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exception
    for text in (answer.stdout, answer.stderr):
        assert re.sub("[ \n]", "", text).isprintable() or not text.strip(), ascii(text)
    return answer.stdout, answer.stderr


@pytest.fixture
def run(runs_dir: Path) -> WrittenRun:
    """A run of a stranger's, which was told to be called so."""
    with WrittenRun(runs_dir, Profile(name=HOSTILE)) as run:
        run.begin()
        run.write(
            TrainerStarted(time_s=1.0, pid=1, name=HOSTILE),
            RunRestarted(time_s=1.0, attempt=1, problem=PROBLEM, changes=PROBLEM.fix.changes),
            ProblemReported(
                time_s=1.0, problem=PROBLEM.model_copy(update={"severity": Severity.WARNING})
            ),
        )
        run.end(Outcome.FAILED, PROBLEM)
    root = run.layout.root.rename(run.layout.root.parent / f"a{HOSTILE.replace('/', '|')}")
    run.layout = type(run.layout)(root)
    change_label(run.layout, name=HOSTILE, notes=HOSTILE)
    return run


def test_that_a_list_of_runs_shows_names_labels_and_notes_as_they_are(run: WrittenRun) -> None:
    listed, _ = done("runs")
    document, _ = done("runs", "--json")

    assert len(listed.splitlines()) == 2
    assert listed.count(MARKUP) + listed.count(MARKUP.replace("/", "|")) == 3
    assert listed.count(r"\u202e") == 3
    (told,) = json.loads(document)["runs"]
    assert told["path"] == str(run.layout.root)
    assert told["name"] == run.layout.name == visible_line(told["name"])
    assert told["problem"]["detail"] == visible_lines(HOSTILE)


@pytest.mark.parametrize(
    "verb",
    [
        *("watch", "stop", "resume"),
        # They ask for something as stop does.
        *(pytest.param(verb, marks=pytest.mark.slow) for verb in ("suspend", "checkpoint")),
    ],
)
def test_that_a_verb_that_takes_a_run_shows_it_as_it_is(run: WrittenRun, verb: str) -> None:
    out, err = done(verb, run.layout.root.name)
    document, _ = done(verb, run.layout.root.name, "--json")
    missing, told = done(verb, HOSTILE)

    assert r"\u202e" in out + err
    assert "[/y] [red]:smile:" in (out + err).replace("|", "/")
    assert json.loads(document)
    assert (missing, SHOWN in told) == ("", True)


@pytest.mark.parametrize("name", ["runs[/x]", "runs[red]", "runs :smile:", "a/[bold]b/c"])
def test_that_a_folder_of_runs_may_be_called_as_markup_is(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    with WrittenRun(folder) as run:
        run.begin()
        run.end()

    watched, _ = done("watch", run.layout.name, "--runs-dir", str(folder))
    listed, _ = done("runs", "--runs-dir", str(folder))

    assert watched.splitlines()[-1] == str(run.layout.root)
    assert run.layout.name in listed


def test_that_a_run_whose_folder_is_no_utf8_is_listed_and_found(tmp_path: Path) -> None:
    with WrittenRun(tmp_path / "runs") as run:
        run.begin()
        run.end()
    root = run.layout.root.rename(tmp_path / "runs" / os.fsdecode(b"caf\xe9"))

    listed, _ = done("runs", "--runs-dir", str(root.parent))
    document, _ = done("runs", "--runs-dir", str(root.parent), "--json")
    watched, _ = done("watch", root.name, "--runs-dir", str(root.parent))

    assert r"caf\xe9" in listed
    assert json.loads(document)["runs"][0]["path"] == str(root)
    assert watched.splitlines()[-1] == rf"{root.parent}/caf\xe9"


def test_that_a_problem_is_shown_as_it_is_and_only_its_detail_has_lines(run: WrittenRun) -> None:
    _, err = done("watch", run.layout.root.name)

    assert f"error {SHOWN}  {SHOWN}" in err
    assert f"    $ {SHOWN}" in err
    assert f"    → {SHOWN}: {SHOWN} = " in err
    assert sum(line.startswith("forged") for line in err.splitlines()) == 3, "of three details"


def test_that_arguments_that_are_not_understood_are_shown_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (
        ["check", "a.toml", HOSTILE],
        ["check", f"--{HOSTILE}"],
        ["queue", HOSTILE],
        ["queue", "move", "x", HOSTILE],
        ["devices", HOSTILE],
    ):
        monkeypatch.setattr("sys.argv", ["gpupanel", *arguments])
        with pytest.raises(SystemExit) as ended:
            command.main()
        assert ended.value.code == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("error")
        assert re.sub("[ \n]", "", told.err).isprintable(), ascii(told.err)


def test_that_a_profile_and_its_path_are_shown_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE.replace("/", "|")
    folder.mkdir()
    profile = folder / "mine.toml"
    text = json.dumps(HOSTILE).replace("\x7f", "\\u007f").replace("\x85", "\\u0085")
    profile.write_text(f'name = {text}\n{text} = 1\n[data]\nsource = "npz"\npath = {text}\n')

    for verb in (["check"], ["run"], ["export", "-o", str(folder / "x.py")], ["queue", "add"]):
        _, err = done(*verb, str(profile))
        out, _ = done(*verb, str(profile), "--json")
        told, missing = done(*verb, str(folder / "gone.toml"))
        assert r"\u202e" in out or r"\u202e" in err
        assert json.loads(out)
        assert r"\x1b]0;title\x07" in told + missing


def test_that_entries_of_the_queue_are_shown_as_they_are(
    state_dir: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders, "ensure_scheduler", lambda files: False)
    monkeypatch.setattr("gpupanel.cli.verbs.queue.ensure_scheduler", lambda files: False)
    orders.add(QueueFiles(state_dir / "queue"), Profile(name=HOSTILE), runs_dir)

    out, _ = done("queue")

    assert SHOWN in out
    assert len(out.splitlines()) == 2
    assert json.loads(done("queue", "--json")[0])["entries"][0]["name"] == HOSTILE
    assert SHOWN in done("queue", "remove", HOSTILE)[1]


def test_that_names_of_devices_and_processes_are_shown_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hostile(value):
        if isinstance(value, str):
            return HOSTILE
        return value

    devices = tuple(
        device.model_copy(
            update={
                name: hostile(getattr(device, name))
                for name in PhysicalDevice.model_fields
                if name not in ("kind", "key")
            }
        )
        for device in EIGHT_DEVICES.devices
    )

    class Sampler:
        def __init__(self, **_options: object) -> None: ...
        def __enter__(self):
            return self

        def __exit__(self, *_error: object) -> None: ...
        def inventory(self):
            return EIGHT_DEVICES.model_copy(update={"devices": devices, "problem": HOSTILE})

        def sample(self) -> TelemetrySample:
            return TelemetrySample(time_s=1.0, readings=())

    monkeypatch.setattr(devices_verb, "DeviceSampler", Sampler)

    out, _ = done("devices")

    assert SHOWN in out
    assert json.loads(done("devices", "--json")[0])["devices"][0]["name"] == HOSTILE


def test_that_what_the_doctor_found_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    report = DoctorReport(
        python_version=HOSTILE,
        python_path=HOSTILE,
        system=HOSTILE,
        packages=(PackageVersion(name="keras", version=HOSTILE),),
        driver=HOSTILE,
        gpus=(RTX_4090.model_copy(update={"name": HOSTILE}),),
        problems=(PROBLEM,),
        command=HOSTILE,
    )
    monkeypatch.setattr(doctor_verb, "examine", lambda: report)

    out, _ = done("doctor")

    assert f"error {SHOWN}  {SHOWN}" in out
    assert out.count(SHOWN) > 8


def rendered(print_: Callable[[LiteralConsole], None], *, is_terminal: bool = False) -> str:
    console = LiteralConsole(width=200, force_terminal=is_terminal, color_system=None)
    with console.capture() as captured:
        print_(console)
    return captured.get()


@pytest.mark.parametrize(
    "renderable",
    [HOSTILE, Text(HOSTILE), Text.assemble(("ok", "bold"), HOSTILE), Text(HOSTILE, "red")],
)
def test_that_forgetting_to_escape_harms_nobody(renderable: str | Text) -> None:
    table = Table(HOSTILE, title=HOSTILE)
    table.add_row(renderable)

    for text in (
        rendered(lambda console: console.print(renderable)),
        rendered(lambda console: console.print(renderable, markup=True, emoji=True)),
        rendered(lambda console: console.print(table)),
    ):
        assert not set(text) & set("\x1b\x07\x9b\x7f\u202e\u2066\u200f\u2028\r\x85"), ascii(text)
        assert ":smile:" in text
        assert "[/y]" in text


def test_that_its_own_styles_still_reach_a_terminal() -> None:
    console = LiteralConsole(force_terminal=True, color_system="standard", width=80)
    with console.capture() as captured:
        console.print("a", style="red")
        with console.status("b"):
            pass
    assert "\x1b[31ma" in captured.get()


def test_that_no_verb_prints_otherwise() -> None:
    paths = list(CLI.rglob("*.py"))
    assert CLI / "verbs" / "run.py" in paths
    for path in paths:
        source = path.read_text(encoding="utf-8")
        assert "rich.markup" not in source, path
        for node in ast.walk(ast.parse(source)):
            text = ast.unparse(node) if isinstance(node, ast.Call) else ""
            called = text.partition("(")[0]
            assert called not in {"Console", "print", "rich.print", "click.echo"}, (path, text)
            assert called != "LiteralConsole" or path.name == "output.py", (path, text)
            assert called != "sys.stdout.write" or path.name == "output.py", (path, text)
            assert called != "typer.echo", (path, text)
            assert called != "TextColumn" or "markup=False" in text, (path, text)
            assert called not in {"Text.from_markup", "Text.from_ansi"}, (path, text)

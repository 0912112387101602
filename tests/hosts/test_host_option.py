"""``gpupanel --host`` at the terminal: what is refused before a window opens."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app, with_verb
from gpupanel.hosts.here.known_hosts import configured_hosts


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--host", "-oProxyCommand=evil"], "host_name_unusable"),
        (["--host", "a b"], "host_name_unusable"),
        (["--host=lab", "runs"], "verb_on_a_host"),
        (["--host", "lab", "queue"], "verb_on_a_host"),
    ],
)
def test_that_what_cannot_be_meant_is_refused_by_name(arguments: list[str], code: str) -> None:
    answer = CliRunner().invoke(app, with_verb(arguments))
    assert answer.exit_code == 2
    assert code in answer.output


def test_that_the_options_of_a_window_need_no_verb() -> None:
    for arguments in (["--host", "lab"], ["--host=lab"], ["--there", "x", "--host", "lab"]):
        assert with_verb(arguments) == ["open", *arguments]


def test_that_hosts_are_offered_as_the_configuration_of_ssh_names_them(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(
        "Host lab ada-desk\n  HostName 10.0.0.7\nhost=third\nHost *.example.org !no web?\n"
        'Match host x\nHost "quoted"\nHostName no\n'
    )
    assert configured_hosts(file) == ("lab", "ada-desk", "third", "quoted")
    assert configured_hosts(tmp_path / "missing") == ()
    (tmp_path / "fifo").mkdir()
    assert configured_hosts(tmp_path / "fifo") == ()

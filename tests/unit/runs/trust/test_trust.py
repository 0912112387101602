"""What is trusted: content, by its hash, however many processes remember it at once."""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpupanel.domain.data import PythonData
from gpupanel.domain.model import PythonModel, SavedModel
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.code_file import LARGEST_CODE_BYTES
from gpupanel.runs.cluster.environments import allowed
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from gpupanel.runs.trust.trusted import (
    CodeNotTrustedError,
    check_trusted,
    code_problems,
    trust,
    trusted_file,
    untrusted,
)
from gpupanel.runs.trust.user_code import (
    UserCode,
    code_of_profile,
    code_of_run,
    keep_code,
)


@pytest.fixture
def code(tmp_path: Path) -> UserCode:
    return UserCode("model.path", tmp_path / "network.py", b"print('once')\n")


def naming(path: Path) -> Profile:
    return Profile(model=PythonModel(path=str(path)))


def code_of_problem(profile: Profile) -> str:
    (problem,) = code_problems(profile)
    assert problem.field
    assert problem.hint
    return problem.code


def test_that_content_is_trusted_wherever_it_lies(code: UserCode, tmp_path: Path) -> None:
    assert untrusted([code]) == (code,)
    with pytest.raises(CodeNotTrustedError) as caught:
        check_trusted([code])
    assert caught.value.code == (code,)
    (problem,) = caught.value.problems
    assert problem.code == "code_not_trusted"
    assert str(code.path) in problem.message
    assert "--trust" in problem.hint
    assert hashlib.sha256(code.content).hexdigest() in problem.detail

    trust([code])
    check_trusted([code, UserCode("data.path", tmp_path / "copy.py", code.content)])
    assert untrusted([UserCode(code.key, code.path, code.content + b" ")])


def test_that_code_that_measures_an_evaluation_is_trusted_and_kept_as_any_other(
    tmp_path: Path,
) -> None:
    file = tmp_path / "network.py"
    file.write_text("def loss(labels, outputs): ...\n")
    model = SavedModel(path=str(tmp_path / "model.keras"), measures=str(file))
    profile = Profile(task="evaluate", model=model)

    (code,) = code_of_profile(profile)
    assert (code.key, code.path, code.content) == ("model.measures", file, file.read_bytes())
    assert code_of_problem(profile) == "code_not_trusted"
    # What is not measured is not executed either.
    for task in ("train", "predict"):
        assert code_of_profile(profile.model_copy(update={"task": task})) == ()
    layout = RunLayout(tmp_path / "run")
    layout.root.mkdir()
    keep_code(layout, [code])
    assert layout.model_code.read_bytes() == file.read_bytes()
    assert code_of_run(layout, profile) == (UserCode(code.key, layout.model_code, code.content),)


def test_that_many_who_trust_at_once_all_are_remembered(tmp_path: Path) -> None:
    files = [UserCode("data.path", tmp_path / f"{n}.py", str(n).encode()) for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: trust([one]), files))
    assert untrusted(files) == ()
    assert len(json.loads(trusted_file().read_text())["trusted"]) == 24


def test_that_a_memory_of_terabytes_is_not_read(code: UserCode) -> None:
    trust([code])
    with trusted_file().open("r+b") as file:
        file.truncate(2**42)
    assert untrusted([code]) == (code,)


@pytest.mark.parametrize("content", [b"", b"{", b'{"trusted": [1]}', b"\xff"])
def test_that_a_damaged_memory_trusts_nothing_and_is_written_anew(
    code: UserCode, content: bytes
) -> None:
    trust([code])
    trusted_file().write_bytes(content)
    assert untrusted([code]) == (code,)
    trust([code])
    assert untrusted([code]) == ()


def test_that_trust_that_cannot_be_remembered_is_reported(code: UserCode) -> None:
    trusted_file().parent.parent.mkdir(exist_ok=True)
    trusted_file().parent.touch()
    with pytest.raises(ProblemError):
        trust([code])


def test_that_a_file_that_cannot_be_code_is_reported(tmp_path: Path) -> None:
    assert code_of_problem(naming(tmp_path / "none.py")) == "code_missing"
    assert code_of_problem(naming(tmp_path)) == "code_unreadable"
    large = tmp_path / "large.py"
    large.write_bytes(bytes(LARGEST_CODE_BYTES + 1))
    assert code_of_problem(naming(large)) == "code_unreadable"
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)  # reading it would wait for ever
    assert code_of_problem(naming(pipe)) == "code_unreadable"


def test_that_only_what_a_task_carries_out_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    profile = naming(tmp_path / "a.py")
    assert code_of_profile(profile)
    assert not code_of_profile(profile.model_copy(update={"task": "evaluate"}))
    assert not code_of_profile(Profile())
    assert code_of_profile(Profile(data=PythonData(path=""))) == ()


def test_that_a_run_keeps_the_bytes_that_were_read(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path / "run")
    layout.root.mkdir()
    file = tmp_path / "network.py"
    file.write_bytes(b"# \xe9 is no UTF-8\r\n")
    seen = code_of_profile(naming(file))
    file.write_text("import os")
    keep_code(layout, seen)
    (kept,) = code_of_run(layout, naming(file))
    assert (kept.content, kept.path) == (seen[0].content, layout.model_code)


def test_that_paths_of_code_move_with_their_profile(tmp_path: Path) -> None:
    profile = Profile(
        model=PythonModel(path=str(tmp_path / "network.py")),
        data=PythonData(path=str(tmp_path / "data.py")),
    )
    write_profile(tmp_path / "p.toml", profile)
    text = (tmp_path / "p.toml").read_text()
    assert 'path = "network.py"' in text
    assert 'path = "data.py"' in text
    assert read_profile(tmp_path / "p.toml") == profile


def test_that_a_plan_sets_no_variable_that_could_load_code() -> None:
    hostile = {"LD_PRELOAD": "/tmp/x.so", "PYTHONPATH": "/tmp", "CUDA_VISIBLE_DEVICES": "-1"}
    assert allowed(hostile) == {"CUDA_VISIBLE_DEVICES": "-1"}

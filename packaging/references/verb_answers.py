"""What each verb gives to scripts: the keys of its JSON document, and its exit statuses."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.domain.batch_fit import BatchFit
from gpupanel.domain.bench import Bench
from gpupanel.domain.ladder import Ladder
from gpupanel.domain.model_export import ModelExport
from gpupanel.domain.model_summary import ModelSummary
from gpupanel.domain.rate_range import RateRange
from gpupanel.domain.read_speed import ReadSpeed
from gpupanel.domain.scan import DataScan
from gpupanel.domain.self_test import SelfTest
from gpupanel.domain.value import Value
from gpupanel.runs.sweeps.sweep_status import SweepStatus

_DONE: Final = {0: "done"}
_FAILED: Final = {1: "it could not be done"}
_BAD_PROFILE: Final = {2: "the profile is wrong"}
_INTERRUPTED: Final = {130: "interrupted by Ctrl+C"}
_OF_A_RUN: Final = {
    0: "completed",
    1: "failed, or its process vanished",
    2: "the profile is wrong; nothing was started",
    130: "stopped or suspended",
}


class VerbAnswer(NamedTuple):
    """Of one verb.

    Attributes:
        keys: Of the JSON document, at its top.
        about: What is to be known of it, in Markdown.
        statuses: What each exit status means.
    """

    keys: tuple[str, ...]
    about: str
    statuses: Mapping[int, str]


def _of(value: type[Value]) -> tuple[str, ...]:
    return tuple(value.model_fields)


_RUN_KEYS: Final = (
    "run",
    "outcome",
    "metrics",
    "figures",
    "kept_epoch",
    "best_epoch",
    "examples_per_second",
    "waiting_for_data",
    "time_spent",
    "energy",
    "findings",
    "problem",
    "saved",
    "memory_returned",
    "continues_s",
    "unread_lines",
)
_OF_RUNS: Final = VerbAnswer(
    _RUN_KEYS,
    "With `--detach` only `run`, the folder. An evaluation also has `confusion`, `class_names`, "
    "`confusion_file`, `evaluated` (`examples`: how many; `which`: `all`, `validation` or "
    "`training`; `learned`: how many of these the model learned from, `null` where that is not "
    "known; `learned_is_estimate`: that is so by a sample) and, of "
    "several labels, `labels`; a prediction has `predictions`, its file.",
    _OF_A_RUN,
)
_ASKED: Final = VerbAnswer(
    ("run", "asked"),
    "`asked` is false where the run has ended already.",
    {**_DONE, 1: "there is no such run"},
)
_QUEUE: Final = VerbAnswer(
    ("paused", "scheduler_lives", "entries", "problems"),
    "`problems` are what keeps the queue from starting anything, and what lies in its folder that "
    "is not its own.",
    {**_DONE, **_FAILED},
)
_ENTRY: Final = VerbAnswer(("entry",), "", {**_DONE, **_FAILED, **_BAD_PROFILE})
_DESKTOP: Final = VerbAnswer(("files",), "", {**_DONE, **_FAILED})

ANSWERS: Final[Mapping[str, VerbAnswer]] = {
    "devices": VerbAnswer(
        ("driver", "devices", "unresponsive"),
        "Each device has its `key` (the UUID), what does not change about it, its readings, its "
        "`processes`, its `links` and its `claims` (runs of other users that hold it: `user`, "
        "`since_s`, `until_s`); what it does not report is null. "
        "`unresponsive` are GPUs that the driver counts and that do not answer: each has its "
        "`failure` (what the driver said, with NVML's code), its `index`, what else is known of it "
        "and `advice`. With `--cluster` the keys "
        "are `address`, `ray`, `here` and `nodes`: each node has its `name`, `state`, `reason`, "
        "versions and its own `driver` and `devices`.",
        {**_DONE, 1: "no cluster answers"},
    ),
    "power": VerbAnswer(
        ("gpus", "supply_w", "rest_w", "problems"),
        "Each of `gpus` has its `key`, `name`, `limit_w` (in force), `default_w`, `least_w`, "
        "`most_w`, and `measured`: what runs of this machine that trained the same under several "
        "limits have shown, `fraction` of the speed under the greatest one.",
        {**_DONE, 1: "the limit was not set; the problem has the command for the administrator"},
    ),
    "doctor": VerbAnswer(
        ("ok", *_of(DoctorReport)),
        "`command` does all that commands can do about it. With `--cluster` the keys are those of "
        "`devices --cluster`, with `ok` and `problems`.",
        {0: "no problems found", 1: "something is wrong"},
    ),
    "check": VerbAnswer(
        ("ok", "problems", "plan", "others"),
        "`plan` is null where nothing can be launched; `others` are processes that hold memory of "
        "the devices.",
        {0: "it can run", 1: "an error keeps it from running"},
    ),
    "export": VerbAnswer(
        (),
        "The format is the key of the path that was written, such as `script`. A model also has "
        + ", ".join(f"`{key}`" for key in _of(ModelExport) if key != "problems")
        + ". What cannot be written is null, beside `problems`.",
        {**_DONE, **_FAILED},
    ),
    "scan": VerbAnswer(
        _of(DataScan),
        "",
        {0: "nothing is wrong but for hints and warnings", 1: "an error", **_BAD_PROFILE}
        | _INTERRUPTED,
    ),
    "reporting": VerbAnswer(
        ("file",), "Without `--json` it is the file itself, to be written beside a program.", _DONE
    ),
    "template": VerbAnswer(
        ("profile",),
        "Without a name it has `templates`, each with `name`, `title` and `about`.",
        {**_DONE, **_FAILED, 2: "there is no such template"},
    ),
    "notes": VerbAnswer(
        ("file", "ways", "kinds", "problems", "tried"),
        "`tried` has each way with `failure`, which is `null` where it was sent. The address of "
        "the webhook and the command are not told.",
        {**_DONE, 1: "a test did not arrive, or there is no way to send it"},
    ),
    "schema": VerbAnswer((), "It is a JSON schema, with or without `--json`.", _DONE),
    "summary": VerbAnswer(
        (*_of(ModelSummary), "memory", "largest_batch"),
        "`memory` has an estimate for each device in MiB: weights, gradients, optimizer, "
        "activations, what an update holds besides and data, which are `counted_mib` together and "
        "have to fit into `room_mib`; overhead, which goes of the device besides, and the total "
        "with it.",
        {**_DONE, 1: "the model cannot be built", **_BAD_PROFILE},
    ),
    "read-speed": VerbAnswer(
        ("examples_per_second", *_of(ReadSpeed)),
        "`examples_per_second` is `null` where all examples are held in memory.",
        {**_DONE, 1: "nothing was read", **_BAD_PROFILE},
    ),
    "lr-find": VerbAnswer(
        _of(RateRange), "", {**_DONE, 1: "no learning rate was found", **_BAD_PROFILE}
    ),
    "fit": VerbAnswer(
        _of(Ladder),
        "The first of `rungs` is the training as it is.",
        {**_DONE, 1: "nothing fits", **_BAD_PROFILE},
    ),
    "fit-batch": VerbAnswer(
        _of(BatchFit), "", {**_DONE, 1: "no batch fits", **_BAD_PROFILE, **_INTERRUPTED}
    ),
    "selftest": VerbAnswer(
        ("ok", *_of(SelfTest)),
        "",
        {0: "all is right", 1: "something is wrong", **_BAD_PROFILE, **_INTERRUPTED},
    ),
    "bench": VerbAnswer(
        ("fastest", *_of(Bench)),
        "`fastest` is the name of a result.",
        {**_DONE, 1: "nothing was measured", **_BAD_PROFILE, **_INTERRUPTED},
    ),
    "run": _OF_RUNS,
    "sweep": VerbAnswer(
        ("sweep", "trials", "runs"),
        "With `--dry-run` `count`, `runs` and `trials`, their numbers and values. Of a sweep "
        + ", ".join(f"`{key}`" for key in _of(SweepStatus))
        + ".",
        {**_DONE, **_FAILED, **_BAD_PROFILE},
    ),
    "runs": VerbAnswer(
        ("runs",),
        "Each run has what its table shows, its folder as `path`, and `time_spent`, `energy` and "
        "`findings` as `run --json` has them.",
        {**_DONE, 1: "the filter cannot be understood"},
    ),
    "watch": _OF_RUNS._replace(
        statuses={
            **_OF_A_RUN,
            2: "called in a wrong way",
            130: "stopped, suspended or no longer watched",
        },
    ),
    "stop": _ASKED,
    "suspend": _ASKED,
    "checkpoint": _ASKED,
    "trace": VerbAnswer(
        ("run", "folder", "trace", "devices", "notes"),
        "Each device has its ten most expensive operations.",
        {**_DONE, 1: "there is no trace, or not all of it", **_INTERRUPTED},
    ),
    "resume": _OF_RUNS,
    "queue": _QUEUE,
    "queue add": _ENTRY,
    "queue edit": _ENTRY,
    "queue remove": _QUEUE,
    "queue move": _QUEUE,
    "queue pause": _QUEUE,
    "queue resume": _QUEUE,
    "queue clear": _QUEUE,
    "desktop install": _DESKTOP,
    "desktop remove": _DESKTOP,
}
"""By the words after ``gpupanel``."""

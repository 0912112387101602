"""The profile."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "The profile",
    "What `gpupanel check` and the window say about the file itself.",
    {
        "profile_not_toml": ProblemEntry(
            "The file cannot be read as TOML, or is not a profile at all.",
            "A quote, a bracket or an equals sign is missing, or the file is of another kind or"
            " larger than any profile.",
            "Correct the line that is named: text needs quotes, tables need [brackets].",
        ),
        "profile_beyond_bounds": ProblemEntry(
            "A list, a table or a text of the profile holds more than is read.",
            "Nobody needs so much, and each device that is named has a card in the window: 1,024"
            " devices, 32,768 entries of any other list or table, 4,096 characters of a text.",
            "Leave out what is not needed; where there are more classes or columns, let the data"
            " say them.",
        ),
        "profile_version_unknown": ProblemEntry(
            "The profile has a format that this gpupanel does not read.",
            "A newer gpupanel wrote it, or `schema_version` was changed by hand.",
            "Update gpupanel, or write the profile again.",
        ),
        "profile_key_unknown": ProblemEntry(
            "A key is not one of a profile.",
            "It is mistyped, stands in the wrong table, or belongs to another kind of data, "
            "model or memory policy.",
            "Take the name that is proposed, or remove the key; [the keys of a "
            "profile](profile.md) lists all.",
        ),
        "profile_key_missing": ProblemEntry(
            "A key that cannot be left out is not there.",
            "A kind of data or model needs it, such as `path`; or a table does not say its kind.",
            "Add the key; the hint says what it may be.",
        ),
        "profile_value_invalid": ProblemEntry(
            "A key has a value that is not allowed.",
            "It is of another type, out of bounds, or not one of the choices.",
            "Give it one of the values that the message names.",
        ),
        "profile_more_mistakes": ProblemEntry(
            "The profile has more mistakes than are listed.",
            "Only the first hundred are shown.",
            "Correct those, then check again.",
        ),
        "profile_unread": ProblemEntry(
            "The profile of a run cannot be read.",
            "A newer gpupanel wrote it, or it is damaged or gone.",
            "Everything else of the run is shown; update gpupanel if a newer one wrote it.",
        ),
        "plan_unread": ProblemEntry(
            "The plan of a run cannot be read.",
            "A newer gpupanel wrote it, or it is damaged or gone.",
            "Everything else of the run is shown; update gpupanel if a newer one wrote it.",
        ),
        "input_invalid": ProblemEntry(
            "A field of the session holds something that cannot be taken.",
            "What was typed is not a value of that setting.",
            "Correct it, or press Escape in the field to return to the last value.",
        ),
        "inside_a_run": ProblemEntry(
            "A profile was to be saved in the folder of a run.",
            "That folder is a record of what was trained.",
            "Save it in another folder; settings of a run open as a copy.",
        ),
        "home_unknown": ProblemEntry(
            "A path that begins with `~`, or the folder for runs, leads nowhere.",
            "There is no user of that name, or this user has no home folder, as in a container.",
            "Write the whole path, beginning with `/`; or set `HOME`.",
        ),
        "path_unusable": ProblemEntry(
            "A path cannot be used.",
            "It has a NUL character, or is not UTF-8.",
            "Rename the file, or the folder that holds it.",
        ),
        "arguments_not_understood": ProblemEntry(
            "The command was called in a way that it does not know.",
            "An argument or option is missing, mistyped or too much.",
            "`gpupanel VERB --help` lists all; [the terminal](terminal.md) does so, too.",
        ),
    },
)

"""Python code of your own."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Python code of your own",
    "Models and data from a `.py` file; [own data](own-data.md) has their form.",
    {
        "code_missing": ProblemEntry(
            "The Python file does not exist.",
            "It was moved, or the run has no copy any more.",
            "Choose another one, or put it back.",
        ),
        "code_unreadable": ProblemEntry(
            "The Python file cannot be used.",
            "It may not be read, is larger than 1 MiB, or is not UTF-8.",
            "Choose another one, or save it as UTF-8.",
        ),
        "code_not_trusted": ProblemEntry(
            "Code would be run that was not trusted in this form.",
            "It is new here, or has changed since.",
            "Read it; then confirm in the window, or start with `--trust`.",
        ),
        "run_file_changed": ProblemEntry(
            "A file of the run is not what was checked when the run was started.",
            "Something wrote into the run's folder meanwhile. What it wrote was not used.",
            "Find out what did; then resume the run, which checks the files again.",
        ),
        "code_not_carried_out": ProblemEntry(
            "What the code loads is not shown.",
            "Only a run executes it.",
            "Start a run.",
        ),
        "trust_unreadable": ProblemEntry(
            "The list of trusted code cannot be read.",
            "Something else stands in the place of its file.",
            "Move it away; a run with such code then asks again.",
        ),
        "user_code_failed": ProblemEntry(
            "Your code raised an error, or ended the process.",
            "The message names file, line and error.",
            "Correct that line.",
        ),
        "user_code_function_missing": ProblemEntry(
            "The file has no function of the name that is called.",
            "It is mistyped, or defined later.",
            "Define `build_model(input_shape, outputs)`, or `load()`.",
        ),
        "user_code_data_misfit": ProblemEntry(
            "What `load()` returns cannot be used.",
            "The message says what about it.",
            "Return what [own data](own-data.md) describes.",
        ),
        "user_code_model_misfit": ProblemEntry(
            "What `build_model()` returns cannot be trained.",
            "It is not a Keras model, or another one at each call.",
            "Return a built Keras model that depends on its arguments only.",
        ),
    },
)

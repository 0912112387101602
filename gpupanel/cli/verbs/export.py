"""The verb that writes what a person takes away of a run or a profile."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from gpupanel.cli.exported_model import model_document, write_model
from gpupanel.cli.file_endings import Written, written_as
from gpupanel.cli.named_run import run_called
from gpupanel.cli.options import JsonOption, RunsDirOption, TrustOption
from gpupanel.cli.output import answers, print_json, print_problems
from gpupanel.cli.preparation import startable, with_detected_data
from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.model_export import (
    ModelExport,
    Quantization,
    export_sentence,
)
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.value import MOST_PLACES
from gpupanel.planning.script.notebook import notebook
from gpupanel.planning.script.slurm import slurm_script
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.installed_command import installed_command
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.tools.export.export_format import ExportFormat
from gpupanel.runs.tools.export.exported_run import exported, profile_and_code, write_exported
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile


def export(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RUN|PROFILE",
            help="A run's name as `gpupanel runs` lists it, or its folder; or a .toml file.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")
    ],
    file_format: Annotated[
        Written | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="What to write: script, notebook, slurm, report, keras, savedmodel or tflite; "
            "otherwise what the file's name ends in (.py, .ipynb, .sbatch, .html, .keras, "
            ".tflite).",
            show_default=False,
        ),
    ] = None,
    quantize: Annotated[
        Quantization | None,
        typer.Option(
            "--quantize", help="Make a TFLite file smaller, and often faster.", show_default=False
        ),
    ] = None,
    weights: Annotated[
        Keep | None,
        typer.Option(
            "--weights",
            help="Of a model: the weights of the best epoch, or the last ones; otherwise those "
            "that the run kept.",
            show_default=False,
        ),
    ] = None,
    runs_dir: RunsDirOption = None,
    *,
    slurm: Annotated[
        bool,
        typer.Option(
            "--slurm",
            help="Write a batch script that trains the profile, or the profile of the run, on a "
            "Slurm cluster.",
        ),
    ] = False,
    nodes: Annotated[
        int | None,
        typer.Option(
            "--nodes",
            metavar="N",
            min=1,
            max=MOST_PLACES,
            help="With --slurm: how many nodes of the cluster; otherwise one.",
            show_default=False,
        ),
    ] = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Write a script, notebook or batch script of a run, its report as HTML, or its model.

    Beside a model stand a JSON file that says what it takes and gives, and predict.py, which runs
    it on images, tables, texts or arrays.
    """
    asked = Written.SLURM if slurm else file_format
    model: ModelExport | None = None
    notes: tuple[Problem, ...] = ()
    try:
        _check_batch_script(file_format, slurm=slurm)
        wanted = written_as(output, asked)
        _check_nodes(wanted, nodes)
        _check_quantized(wanted, quantize)
        _check_weights(wanted, weights)
        layout = _run_of(source, runs_dir)
        if layout is None:
            notes = _export_profile(source, output, wanted, nodes or 1, trust=trust)
        elif wanted.model_format is not None:
            model = write_model(layout, output, wanted.model_format, quantize, weights)
        else:
            text = ExportFormat(wanted.value)
            if trust and text is not ExportFormat.REPORT:
                trust_code(profile_and_code(layout)[1])
            content = exported(layout, text, fill_in=with_detected_data, nodes=nodes or 1)
            write_exported(output, content)
    except ProblemError as error:
        print_problems(error.problems)
        if json:
            documents = [problem.model_dump(mode="json") for problem in error.problems]
            document = {} if asked is None else {asked.value: None}
            print_json({**document, "problems": documents})
        raise typer.Exit(1) from error
    print_problems(notes)
    if json:
        document = {} if model is None else model_document(model)
        print_json({wanted.value: str(output.absolute()), **document})
    elif model is not None:
        answers.print(f"Wrote {output}: {export_sentence(model)}", highlight=False)
        is_folder = wanted is Written.SAVEDMODEL
        where, name = ("In", "model") if is_folder else ("Beside", output.name)
        said = f"{where} it: {name}.json says what it takes and gives, predict.py runs it on files."
        answers.print(said, highlight=False)
    else:
        answers.print(f"Wrote {output}.", highlight=False)


def _run_of(source: str, runs_dir: Path | None) -> RunLayout | None:
    """The run that is meant; ``None``: a profile is.

    Raises:
        ProblemError: There is neither.
    """
    path = Path(source)
    if path.suffix == ".toml" and not path.is_dir():
        return None
    layout = run_called(source, runs_dir or default_runs_dir())
    if layout is None and not os.path.lexists(path):
        raise ProblemError(_nothing_to_export(source))
    return layout


def _export_profile(
    source: str, output: Path, wanted: Written, nodes: int, *, trust: bool
) -> tuple[Problem, ...]:
    """Write it, and return what else there is to say."""
    if wanted is Written.SLURM:
        _export_batch_script(Path(source), output, nodes, trust=trust)
        return ()
    if wanted not in (Written.SCRIPT, Written.NOTEBOOK):
        raise ProblemError(_needs_run(source, wanted))
    profile, plan, preparation = startable(Path(source))
    code = code_of_profile(profile)
    if trust:
        trust_code(code)
    # Whoever runs the script runs these files.
    check_trusted(code)
    write = notebook if wanted is Written.NOTEBOOK else stand_alone_script
    write_exported(output, write(with_detected_data(profile), plan))
    return preparation.problems


def _export_batch_script(source: Path, output: Path, nodes: int, *, trust: bool) -> None:
    """Write it, whatever this machine has: it is a login node as a rule, without the GPUs."""
    profile = read_profile(source)
    code = code_of_profile(profile)
    if trust:
        trust_code(code)
    check_trusted(code)
    write_exported(output, slurm_script(profile, installed_command(), nodes))


def _check_batch_script(file_format: Written | None, *, slurm: bool) -> None:
    if slurm and file_format not in (None, Written.SCRIPT, Written.SLURM):
        raise ProblemError(_not_a_batch_script(file_format))


def _check_nodes(wanted: Written, nodes: int | None) -> None:
    if nodes is not None and wanted is not Written.SLURM:
        raise ProblemError(_NODES_OF_NOTHING)


_NODES_OF_NOTHING: Final = Problem(
    code="export_not_for_slurm",
    message="--nodes is for a batch script, and another file is to be written.",
    hint="Use --slurm, or leave --nodes out.",
)


def _not_a_batch_script(file_format: Written) -> Problem:
    return Problem(
        code="export_not_for_slurm",
        message=f"--slurm writes a batch script, and --format {file_format.value} is another file.",
        hint="Leave one of the two out.",
    )


_NOT_QUANTIZED: Final = Problem(
    code="export_not_quantized",
    message="Only a TFLite file can hold its weights in fewer bits.",
    hint="Leave --quantize out, or use --format tflite.",
)


def _check_quantized(wanted: Written, quantize: Quantization | None) -> None:
    if quantize is not None and wanted is not Written.TFLITE:
        raise ProblemError(_NOT_QUANTIZED)


_NO_WEIGHTS: Final = Problem(
    code="export_without_weights",
    message="--weights is for a model, and another file is to be written.",
    hint="Leave --weights out, or name a model, such as one that ends in .keras.",
)


def _check_weights(wanted: Written, weights: Keep | None) -> None:
    if weights is not None and wanted.model_format is None:
        raise ProblemError(_NO_WEIGHTS)


def _needs_run(source: str, wanted: Written) -> Problem:
    what = "a report" if wanted is Written.REPORT else "a trained model"
    return Problem(
        code="export_needs_run",
        message=f"{source} is a profile, and {what} is of a run.",
        hint="Name a run: `gpupanel runs` lists them.",
    )


def _nothing_to_export(source: str) -> Problem:
    return Problem(
        code="run_not_found",
        message=f"There is no run and no profile {source}.",
        hint="`gpupanel runs` lists the runs; --runs-dir names another folder. A profile is a "
        ".toml file.",
    )

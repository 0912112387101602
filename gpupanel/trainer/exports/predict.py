"""Predicts with a model that gpupanel exported; this script runs without gpupanel.

    python predict.py cat.png dog.jpg     images; grey ones with --swap or --no-swap
    python predict.py rows.csv            rows of a table, or of texts
    python predict.py review.txt          texts; or --text "the words of one"
    python predict.py examples.npy        arrays, one example or many
    python predict.py examples.npz        those of several inputs, by their names

A model that gives arrays has them written by --output masks.npz, in the order of what was named.

Beside it stand the model, a JSON file that says what the model takes and gives and, where that is
rows or texts, text_layout.py, which finds out how a file is written. It needs Python 3.10, NumPy,
Pillow for images, and TensorFlow; of a .tflite file ai-edge-litert is enough.
"""

import argparse
import csv
import importlib.util
import json
import string
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpupanel.domain.written_dates import date_in
from gpupanel.domain.written_numbers import NumberForm, is_number, number_in
from gpupanel.trainer.parts.image_edges import edge_means, is_ground_unlike
from gpupanel.trainer.parts.image_pixels import (
    LARGEST_IMAGE_PIXELS,
    TooManyPixelsError,
    UnknownRangeError,
    WantedPixels,
    image_pixels,
)
from gpupanel.trainer.parts.named_arrays import (
    Arrays,
    ArraysError,
    by_names,
    examples_in,
    is_same_shape,
    write_stacked,
)
from gpupanel.trainer.parts.table_cells import column_names
from gpupanel.trainer.parts.text_files import LONGEST_TEXT_BYTES, text_in_file

FORMATS = ("PNG", "JPEG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "PPM")
TABLES = (".csv", ".tsv")
UNKNOWN: defaultdict[str, Counter[str]] = defaultdict(Counter)
"""Categories that training did not know, by their columns, and in how many rows."""
UNLIKE: dict[bool, list[str]] = {True: [], False: []}
"""Pictures with another ground than those of training: whose light and dark are swapped, or not."""

ARRAY: dict[str, type] = {"shape": list, "dtype": str}
NEEDED_OF_KIND: dict[str, dict[str, type]] = {
    "image": {"image": dict, **ARRAY},
    "row": {"columns": list, "csv": dict, **ARRAY},
    "words": {"words": list, "length": int, **ARRAY},
    "array": ARRAY,
    "inputs": {"inputs": list},
}
"""What the JSON file says of an input, by its kind; beside a sentence."""
NEEDED_OF_INPUT: dict[str, type] = {"name": str, **ARRAY}
NEEDED_OF_ROW: dict[str, type] = {"kind": str, "numbers": str, "names": list}
NEEDED_OF_OUTPUT: dict[str, type] = {"name": str, "shape": list, **NEEDED_OF_ROW}
Row = list[tuple[str, float]]
"""Names of classes, labels or values, with what the model gives for each."""
MOST_SHOWN = 8
"""So many numbers of an array are shown; of others, which there are."""


def main() -> None:
    """Print what the model says of each input."""
    parser = argparse.ArgumentParser(description="Predicts with the exported model.")
    parser.add_argument("inputs", nargs="*", type=Path, help="images, .csv, .txt, .npy or .npz")
    parser.add_argument("--model", type=Path, help="the model, if several are beside this")
    parser.add_argument("--text", help="a text, in place of a file")
    parser.add_argument(
        "--swap",
        action=argparse.BooleanOptionalAction,
        help="swap light and dark of grey images; left out: where the training has another ground",
    )
    parser.add_argument("--json", action="store_true", help="print all outputs as JSON")
    parser.add_argument("--output", type=Path, help="of arrays: an .npz file to write them to")
    arguments = parser.parse_args()
    csv.field_size_limit(LONGEST_TEXT_BYTES)
    if not arguments.inputs and arguments.text is None:
        parser.error("name what to predict on")
    path = arguments.model or model_beside()
    description = described(path)
    takes, gives = description["input"], description["output"]
    if arguments.output and gives["kind"] != "arrays":
        parser.error("--output is of models that give arrays: use --json")
    model = load(path)
    results, kept = [], []
    if arguments.swap and takes.get("image", {}).get("channels") != 1:
        raise problem("The model takes no grey images, whose light and dark could be swapped.")
    for name, example in examples(arguments.inputs, arguments.text, takes, swap=arguments.swap):
        answer = answer_of(model(as_batch(example, takes)), gives, path)
        if arguments.output and isinstance(answer, dict):
            kept.append(answer)
        if arguments.json:
            results.append({"input": name, "outputs": as_json(answer)})
        else:
            print(f"{visible(name)}: {in_words(answer, gives)}", flush=True)
    if kept:
        save(kept, arguments.output)
    if arguments.json:
        print(json.dumps(results))
    for words in (*unknown_categories(), *unlike_grounds(swap=arguments.swap)):
        print(visible(words), file=sys.stderr)


def model_beside() -> Path:
    """The model in the folder of this file."""
    here = Path(__file__).resolve().parent
    if (here / "saved_model.pb").exists():
        return here
    found = sorted(each for each in here.iterdir() if each.suffix in (".tflite", ".keras"))
    found = [each for each in found if description_of(each).exists()]
    if not found:
        raise problem(f"There is no exported model in {here}: name one by --model.")
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise problem(f"Several models are here, name one of them by --model: {names}")
    return found[0]


def description_of(model: Path) -> Path:
    """Where it stands what a model takes and gives."""
    return model / "model.json" if model.is_dir() else model.with_name(f"{model.name}.json")


def described(model: Path) -> dict[str, Any]:
    """What the JSON file beside a model says."""
    path = description_of(model)
    try:
        description: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise problem(f"{path} does not say what the model takes: {error}") from error
    if not isinstance(description, dict):
        raise problem(f"{path} is damaged: export the model again.")
    if description.get("schema_version") != 1:
        raise problem(f"{path} was written by another version of gpupanel than this script.")
    if not is_whole(description):
        raise problem(f"{path} is damaged: export the model again.")
    return description


def is_whole(description: dict[str, Any]) -> bool:
    """Whether it says all that is used here."""
    takes, gives = description.get("input"), description.get("output")
    if not isinstance(takes, dict) or not isinstance(gives, dict):
        return False
    kind = takes.get("kind")
    if not isinstance(kind, str) or kind not in NEEDED_OF_KIND:
        return False
    if not says(takes, {"means": str, **NEEDED_OF_KIND[kind]}):
        return False
    if not all(says(each, NEEDED_OF_INPUT) for each in takes.get("inputs", ())):
        return False
    if gives.get("kind") != "arrays":
        return says(gives, NEEDED_OF_ROW)
    outputs = gives.get("outputs")
    return isinstance(outputs, list) and all(says(each, NEEDED_OF_OUTPUT) for each in outputs)


def says(what: object, needed: dict[str, type]) -> bool:
    """Whether it has these keys."""
    return isinstance(what, dict) and all(
        isinstance(what.get(key), of) for key, of in needed.items()
    )


def load(path: Path) -> Callable[[Any], Any]:
    """The model as a function of examples, first axis the examples, or a dictionary of such.

    It gives an array, or several in a dictionary or a list.
    """
    if path.suffix == ".tflite":
        return load_tflite(path)
    if path.suffix == ".keras":
        import keras

        model = keras.saving.load_model(path, compile=False)
        return lambda features: model(features, training=False)
    import tensorflow as tf

    loaded = tf.saved_model.load(str(path))
    return lambda features: loaded.serve(features)


def load_tflite(path: Path) -> Callable[[Any], Any]:
    """Carried out by LiteRT, or by the interpreter in TensorFlow."""
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        import tensorflow as tf

        Interpreter = tf.lite.Interpreter  # noqa: N806
    run = Interpreter(str(path)).get_signature_runner()
    (first, *_) = run.get_input_details()
    return lambda features: run(**(features if isinstance(features, dict) else {first: features}))


def as_batch(example: Any, takes: dict[str, Any]) -> Any:  # noqa: ANN401 - an array, or several
    """An example as the model takes it: a batch of one."""
    if takes["kind"] == "inputs":
        return {each["name"]: one_array(example[each["name"]], each) for each in takes["inputs"]}
    return one_array(example, takes)


def one_array(example: np.ndarray, takes: dict[str, Any]) -> np.ndarray:
    """An array of an example as a batch of one."""
    return example.reshape(1, *takes["shape"]).astype(takes["dtype"])


def answer_of(found: Any, gives: dict[str, Any], path: Path) -> Row | Arrays:  # noqa: ANN401
    """What the model gives for one example, by names."""
    if gives["kind"] == "arrays":
        try:
            return by_names(found, [each["name"] for each in gives["outputs"]])
        except ArraysError as error:
            raise problem(f"{path} is of another description: {error}.") from error
    only = np.asarray(next(iter(found.values())) if isinstance(found, dict) else found)
    numbers = probabilities(only.reshape(-1).astype(np.float64), gives)
    if len(numbers) != len(gives["names"]):
        raise problem(f"{path} gives {len(numbers)} numbers, for {len(gives['names'])} names.")
    return list(zip(gives["names"], numbers.tolist(), strict=True))


def as_json(answer: Row | Arrays) -> object:
    """Arrays as lists within lists."""
    if isinstance(answer, dict):
        return {name: array.tolist() for name, array in answer.items()}
    return answer


def save(kept: list[Arrays], path: Path) -> None:
    """Write an array for each output."""
    try:
        write_stacked(path, kept)
    except OSError as error:
        raise problem(f"{path} cannot be written: {error}") from error


def examples(
    paths: list[Path], text: str | None, takes: dict[str, Any], *, swap: bool | None = None
) -> Iterator[tuple[str, Any]]:
    """Each example with its name; light and dark are swapped as asked for, or where it is right."""
    kind = takes["kind"]
    numbers = {word.encode(): place for place, word in enumerate(takes.get("words", ()), 2)}
    if text is not None:
        if kind != "words":
            raise problem("The model takes no texts.")
        yield "text", features_of_text(text, numbers, takes["length"])
    for path in paths:
        suffix = path.suffix.lower()
        try:
            if kind == "inputs" and suffix == ".npz":
                shapes = {each["name"]: each["shape"] for each in takes["inputs"]}
                yield from examples_in(path, shapes)
            elif kind != "inputs" and suffix == ".npy":
                yield from arrays(path, takes)
            elif kind == "image":
                yield path.name, features_of_image(path, takes["image"], swap=swap)
            elif kind == "row" and suffix in TABLES:
                for name, cells in rows(path, [each["name"] for each in takes["columns"]], takes):
                    yield name, features_of_row(cells, takes, name)
            elif kind == "words" and suffix in TABLES and "column" in takes:
                for name, cells in rows(path, [takes["column"]], takes):
                    yield name, features_of_text(cells[takes["column"]], numbers, takes["length"])
            elif kind == "words" and suffix not in TABLES:
                words = text_in(path, takes["csv"].get("encoding") or "utf-8")
                yield path.name, features_of_text(words, numbers, takes["length"])
            else:
                raise problem(f"The model cannot take {path}. It takes this: {takes['means']}")
        except ArraysError as error:
            raise problem(f"{error}.") from error
        except (OSError, UnicodeError, csv.Error) as error:
            raise problem(f"{path} cannot be read: {error}") from error


def arrays(path: Path, takes: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """One example, or those along the first axis."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise problem(f"{path} holds no array of numbers: {error}") from error
    if array.dtype.kind not in "biuf":
        raise problem(f"{path} holds no array of numbers, but of the type {array.dtype}.")
    shape = tuple(takes["shape"])
    one, several = is_same_shape(array.shape, shape), is_same_shape(array.shape[1:], shape)
    if not one and not several:
        given = f"{path} has the shape {array.shape}, an example of the model {shape}."
        if sorted(array.shape[-len(shape) :]) == sorted(shape):
            given += " Bring its axes into that order: numpy.moveaxis(x, -3, -1) where channels "
            given += "come first."
        raise problem(given)
    greatest = takes["image"]["greatest"] if "image" in takes else None
    if greatest is not None and array.size:
        warn_of_range(path, float(array.min()), float(array.max()), greatest)
    if one:
        yield path.name, array
    else:
        for place, each in enumerate(array):
            yield f"{path.name} [{place}]", each


def warn_of_range(path: Path, least: float, most: float, greatest: float) -> None:
    """Say where pixels seem to be in another range than those of training."""
    if least < 0 or most > greatest or (most <= 1 < greatest and most > 0):
        words = f"{path} has values from {least:g} to {most:g}, but the model takes pixels from 0 "
        print(visible(f"{words}to {greatest:g}: are they in another range?"), file=sys.stderr)


def formats() -> list[str]:
    """The formats that are tried: AVIF and HEIC where they can be read here."""
    from PIL import Image, features

    Image.init()
    found = [*FORMATS]
    if "AVIF" in Image.OPEN and features.check("avif"):
        found.append("AVIF")
    try:
        importlib.import_module("pillow_heif").register_heif_opener()
    except ImportError:
        return found
    return [*found, "HEIF"]


def features_of_image(
    path: Path, wanted: dict[str, Any], *, swap: bool | None = None
) -> np.ndarray:
    """Pixels, upright and scaled, from 0 to the greatest value."""
    from PIL import Image, UnidentifiedImageError

    height, width, channels = wanted["height"], wanted["width"], wanted["channels"]
    try:
        with Image.open(path, formats=formats()) as image:
            pixels = image_pixels(
                image,
                WantedPixels(
                    (height, width),
                    channels,
                    wanted.get("white_value"),
                    is_fast=wanted.get("decode") == "fast",
                ),
            )
    except UnknownRangeError as error:
        raise problem(f"{path} has 32 bits a pixel: which of them is white?") from error
    except TooManyPixelsError as error:
        raise problem(f"{path} is larger than {LARGEST_IMAGE_PIXELS:,} pixels: {error}") from error
    except (
        *(UnidentifiedImageError, Image.DecompressionBombError, ArithmeticError, EOFError),
        *(LookupError, NotImplementedError, SyntaxError, TypeError, ValueError),
    ) as error:
        # Whatever the bytes of a damaged file make of a decoder.
        raise problem(f"{path} is not an image that can be read: {error}") from error
    if channels == 1:
        pixels = on_known_ground(pixels, path.name, wanted, swap=swap)
    return pixels * np.float32(wanted["greatest"] / 255.0)


def on_known_ground(
    pixels: np.ndarray, name: str, wanted: dict[str, Any], *, swap: bool | None
) -> np.ndarray:
    """Dark on light becomes light on dark where the training has that, or the other way round."""
    edges = wanted.get("edges")
    edge = float(edge_means(pixels[np.newaxis])[0]) / 255.0
    is_unlike = edges is not None and is_ground_unlike(edge, (edges[0], edges[1]))
    is_swapped = is_unlike and bool(wanted.get("swaps")) if swap is None else swap
    if is_unlike:
        UNLIKE[is_swapped].append(name)
    return np.invert(pixels) if is_swapped else pixels


def unlike_grounds(*, swap: bool | None) -> Iterator[str]:
    """What nobody asked for was done about light and dark, or not, a sentence for each."""
    for is_swapped, names in UNLIKE.items():
        if not names or swap is not None:
            continue
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        where = f"{len(names)} {'image' if len(names) == 1 else 'images'} ({shown})"
        why = "is bright where that of the training is dark, or the other way round"
        if is_swapped:
            yield f"Light and dark of {where} are swapped: the edge {why}. --no-swap leaves them."
        else:
            yield (
                f"The edge of {where} {why}: what is light there may be dark here, and the model "
                "knows only one of them. --swap swaps light and dark."
            )


def rows(
    path: Path, wanted: list[str], takes: dict[str, Any]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Each row as cells by the names of their columns."""
    form = takes["csv"]
    layouts = text_layout()
    with path.open("rb") as binary:
        pieces = layouts.pieces_of(binary)
    encoding = form.get("encoding") or layouts.detected_encoding(pieces)
    if encoding is None:
        raise problem(f"{path} holds bytes of value 0, which no text has.")
    layout = layouts.detected_layout(
        pieces[0].decode(encoding, errors="replace").removeprefix("\ufeff"),
        is_number,
        is_whole=len(pieces) == 1,
        delimiter=form.get("delimiter"),
        has_quotes=form.get("has_quotes"),
        skipped=form.get("skipped"),
    )
    csv.field_size_limit(LONGEST_TEXT_BYTES)
    quoting: Any = csv.QUOTE_MINIMAL if layout.has_quotes else csv.QUOTE_NONE
    with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as file:
        lines = islice(file, layout.skipped, None)
        found = csv.reader(lines, delimiter=layout.delimiter, quoting=quoting)
        names: Sequence[str] = ()
        number = 0
        for cells in (line for line in found if line):
            if not names:
                named = form.get("has_names")
                names, is_first_line = names_in(layout, cells, wanted, has_names=named)
                missing = [each for each in wanted if each not in names]
                if missing:
                    columns, cut = ", ".join(missing), layout.delimiter
                    raise problem(f'{path} lacks columns: {columns}. Its cells end at "{cut}".')
                if is_first_line:
                    continue
            number += 1
            if len(cells) != len(names):
                counts = f"{len(cells)} cells, not {len(names)}"
                raise problem(f"Row {number} of {path} has {counts}.")
            yield f"{path.name} row {number}", dict(zip(names, cells, strict=True))
    if not number:
        raise problem(f"{path} has no rows.")


def names_in(
    layout: Any,  # noqa: ANN401 - of the module beside this one
    first: list[str],
    wanted: list[str],
    *,
    has_names: bool | None,
) -> tuple[Sequence[str], bool]:
    """The names of the columns, and whether the first line holds them: where it has those wanted.

    Columns that no line names are called by their numbers.
    """
    named, numbered = column_names(layout.names(first)), column_names([""] * len(first))
    if has_names is None:
        has_names = set(wanted) <= set(named) or not set(wanted) <= set(numbered)
    return (named if has_names else numbered), has_names


def text_layout() -> ModuleType:
    """What finds out how a text file is written; it stands beside this script."""
    path = Path(__file__).with_name("text_layout.py")
    spec = importlib.util.spec_from_file_location("text_layout", path)
    if spec is None or spec.loader is None or not path.exists():
        raise problem(f"{path} is missing: copy it from where the model was exported to.")
    module = importlib.util.module_from_spec(spec)
    sys.modules["text_layout"] = module  # its dataclasses look there for their types
    spec.loader.exec_module(module)
    return module


def unknown_categories() -> Iterator[str]:
    """What training did not know, a sentence for each column."""
    for column, cells in UNKNOWN.items():
        shown = ", ".join(f'"{cell}"' for cell in list(cells)[:5])
        more = ", ..." if len(cells) > 5 else ""
        count = cells.total()
        yield (
            f'Column "{column}" holds {shown}{more} in {count} {"row" if count == 1 else "rows"}, '
            "which training did not know: there it is none of the categories."
        )


def features_of_row(cells: dict[str, str], takes: dict[str, Any], row: str) -> np.ndarray:
    """Numbers and dates as they are, each category as 0 or 1."""
    found: list[float] = []
    nothing = [number_in(word, NumberForm()) for word in takes["empty"]]
    for column in takes["columns"]:
        cell = cells[column["name"]]
        if column["kind"] == "category":
            is_empty = cell.strip() in ("", *takes.get("empty_names", ()))
            cell = unicodedata.normalize("NFC", cell)
            names = [unicodedata.normalize("NFC", name) for name in column["categories"]]
            found += [float(cell == name) for name in names]
            if not is_empty and cell not in names:
                UNKNOWN[column["name"]][cell] += 1
            continue
        value = column["mean"]
        if cell.strip() not in ("", *takes["empty"]):
            written = column.get("written") or {"decimal": takes["csv"]["decimal"]}
            if column["kind"] == "date":
                # Where it is not known, the day comes before the month.
                held = date_in(cell, written.get("date_order", "dmy"))
                held = None if held is None else held - column["first_day"]
            else:
                marks = written["decimal"], written.get("thousands", ""), written.get("unit", "")
                held = number_in(cell, NumberForm(*marks))
                held = np.inf if held in nothing and held is not None else held
            if held is None:
                what = f'column "{column["name"]}" holds "{cell}"'
                raise problem(f"{row}: {what}, which is not a {column['kind']} as in training.")
            value = held if abs(held) <= float(np.finfo(np.float32).max) else value
        found.append(value)
    return np.array(found, np.float32)


def features_of_text(text: str, numbers: dict[bytes, int], length: int) -> np.ndarray:
    """Numbers of words: 0 fills up, 1 is every word that the vocabulary has not."""
    content = text.encode("utf-8", "replace")[:LONGEST_TEXT_BYTES].lower()
    words = content.translate(None, string.punctuation.encode()).split()[:length]
    found = np.zeros(length, np.float32)
    found[: len(words)] = [numbers.get(word, 1) for word in words]
    if not words:
        found[0] = 1
    return found


def text_in(path: Path, encoding: str) -> str:
    """What a file holds, as far as texts are read."""
    with path.open("rb") as file:
        text = text_in_file(file, encoding)
    if "\0" in text:
        raise problem(f"{path} holds bytes of value 0, which no text has.")
    return text


def probabilities(outputs: np.ndarray, gives: dict[str, Any]) -> np.ndarray:
    """A probability for each class or label; values as they are."""
    if gives["kind"] == "classes" and len(outputs) == 1:
        second = logistic(outputs) if gives["numbers"] == "logits" else outputs
        return np.concatenate([1.0 - second, second])
    if gives["numbers"] != "logits":
        return outputs
    if gives["kind"] == "labels":
        return logistic(outputs)
    powers = np.exp(outputs - outputs.max())
    return np.asarray(powers / powers.sum())


def logistic(logits: np.ndarray) -> np.ndarray:
    """The sigmoid."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -logits)))


def sentence(named: list[tuple[str, float]], gives: dict[str, Any]) -> str:
    """The three most probable classes, the labels that are likely, or all values."""
    if gives["kind"] == "values":
        return ", ".join(f"{visible(name)} {number:.6g}" for name, number in named)
    order = sorted(named, key=lambda each: -each[1])
    if gives["kind"] == "labels":
        order = [each for each in order if each[1] >= 0.5] or order[:1]
    return ", ".join(f"{visible(name)} {100 * number:.1f} %" for name, number in order[:3])


def in_words(answer: Row | Arrays, gives: dict[str, Any]) -> str:
    """What the model says of one example."""
    if not isinstance(answer, dict):
        return sentence(answer, gives)
    named = {each["name"]: array_in_words(answer[each["name"]], each) for each in gives["outputs"]}
    return "; ".join(f"{visible(name)}: {words}" for name, words in named.items())


def array_in_words(array: np.ndarray, gives: dict[str, Any]) -> str:
    """Its numbers where they are few, else its shape and range."""
    numbers, names = array.reshape(-1).astype(np.float64).tolist(), gives["names"]
    if gives["kind"] == "classes" and len(names) == len(numbers):
        return sentence(list(zip(names, numbers, strict=True)), gives)
    if len(numbers) <= MOST_SHOWN:
        return ", ".join(f"{number:.6g}" for number in numbers)
    sides = "x".join(map(str, array.shape))
    return f"{sides} numbers from {min(numbers):.6g} to {max(numbers):.6g}"


def problem(words: str) -> SystemExit:
    """What ends the script, for people."""
    return SystemExit(visible(words))


def visible(text: str) -> str:
    """What would act on a terminal is seen instead."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


if __name__ == "__main__":
    main()

"""The page of a profile's keys has all of them, and is what the settings say now."""

import re
import tomllib
from pathlib import Path

import pytest
from references.profile import profile_reference

from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.setting import SettingType, settings_of
from gpupanel.domain.training import TrainingSettings
from tests.fakes.every_setting import EverySetting, UnknownProfile

PAGE = Path(__file__).parents[3] / "resources" / "guide" / "profile.md"
UNKNOWN = profile_reference(UnknownProfile)


def section(page: str, heading: str) -> str:
    """What stands under a heading, up to the next one of its level or above."""
    level = heading.index(" ")
    found = re.search(
        rf"^{re.escape(heading)}$(.*?)(?=^#{{1,{level}}} |\Z)", page, re.DOTALL | re.MULTILINE
    )
    assert found is not None, heading
    return found[1].strip()


def row(page: str, heading: str, key: str) -> list[str]:
    """The cells of a key's row."""
    lines = section(page, heading).splitlines()
    (line,) = [line for line in lines if line.startswith(f"| `{key}` |")]
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_that_the_page_in_the_repository_is_current() -> None:
    is_current = PAGE.read_text(encoding="utf-8") == profile_reference()
    assert is_current, "the settings have changed since profile.md was written: make docs"


def test_that_every_declared_setting_of_a_table_has_a_row() -> None:
    tables = {"## `[training]`": TrainingSettings, "## `[training.schedule]`": ScheduleSettings}
    rows = [(title, each) for title, values in tables.items() for each in settings_of(values)]
    for title, each in rows:
        if each.type is SettingType.TABLE:
            assert " ".join(each.description.split()) in " ".join(profile_reference().split())
            continue
        cells = row(profile_reference(), title, each.name)
        assert cells[1] == each.title
        assert cells[2].startswith(each.description)


def test_that_each_kind_of_data_has_a_section_and_what_all_have_stands_once() -> None:
    data = section(profile_reference(), "## `[data]`")
    assert data.count("| `shuffle` |") == 1
    assert 'Without this table: `source = "digits"`, `validation_fraction = 0.2`.' in data
    npz = section(profile_reference(), '### `source` = `"npz"`')
    assert "Arrays of numbers, read without pickle: in one `.npz` file" in npz
    assert "| `features` |" in npz
    assert '### `source` = `"mnist"`, `"fashion_mnist"`' in data


@pytest.mark.parametrize(
    ("key", "allowed", "default"),
    [
        ("switch", "true or false", "`false`"),
        ("count", "a whole number from 1 to 2147483647; unit: epoch", "`3`; `0`: never"),
        ("zero", "a whole number from 0 to 99", "`0`: not at all"),
        (
            "optional_count",
            "a whole number from 1 to 2147483647; unit: worker",
            "left out: as many",
        ),
        ("optional_five", "a whole number", "`5`"),
        ("number", "a number above 0 and below 1", "`0.5`"),
        ("any_number", "a number", "`1.5`"),
        ("least", "a number of at least -2.5", "`1e+20`"),
        ("most", "a number at most 1e+20", "`0.0`"),
        ("choice", r'`"light"`: As \| snow.<br>`"dark"`', '`"dark"`'),
        ("literal", '`"left"`: Where the heart is.<br>`"right"`: To the right', '`"left"`'),
        ("undescribed", '`"up"`<br>`"down"`', '`"up"`'),
        (
            "counts",
            "a list of up to 4 whole numbers, each from 1 to 2147483647",
            "`[8]`; `[]`: none",
        ),
        ("many_counts", "a list of whole numbers", "`[]`"),
        (
            "size",
            "[height, width], two whole numbers, each from 1 to 512; unit: pixel",
            "`[64, 32]`",
        ),
        ("text", "text in quotes", '`"x"`'),
        ("short_text", "text in quotes, 1 to 9 characters", '`"y"`'),
        ("texts", "a list of texts", "`[]`: any"),
        ("places", '`"auto"` or a table of whole numbers', "left out"),
        (
            "shades",
            r'a table of names, each with<br>`"light"`: As \| snow.<br>`"dark"`',
            "`{}`: no shades",
        ),
        ("lists", "a table of names, each with a list of texts", "`{}`"),
        ("word_or_count", '`"auto"` or a whole number', '`"auto"`'),
        ("mixed", "a list of values", '`[1, "a"]`'),
        ("odd", "a list of values", "`[]`"),
        ("path", "the path of a .npz file, in quotes", "*required*"),
        ("folder", "a path, in quotes", '`""`'),
    ],
)
def test_that_a_new_setting_of_each_type_has_a_row(key: str, allowed: str, default: str) -> None:
    cells = row(UNKNOWN, "## `[every]`", key)
    assert cells[1].endswith(" title")
    assert cells[2].partition(" Only with")[0].endswith(" description.")
    assert cells[3:] == [allowed, default]


def test_that_a_vertical_bar_divides_no_cell_and_can_be_pasted() -> None:
    cells = row(profile_reference(), '### `source` = `"table"`', "delimiter")
    assert r'`"\u007c"`: Vertical bar (\|)' in cells[3]
    assert tomllib.loads(r'delimiter = "\u007c"') == {"delimiter": "|"}


def test_that_what_is_off_is_written_as_its_default_would_be() -> None:
    cells = row(profile_reference(), '### `source` = `"images"`', "validation_path")
    assert cells[4] == '`""`: none'
    cells = row(profile_reference(), '### `source` = `"images"`', "files")
    assert cells[4] == "`[]`: all of the folder"
    cells = row(profile_reference(), "## `[data.augmentation]`", "zoom")
    assert cells[4] == "`0.0`: none"


def test_that_no_setting_of_the_new_table_is_missing() -> None:
    keys = re.findall(r"^\| `(\w+)` \|", section(UNKNOWN, "## `[every]`"), re.MULTILINE)
    assert keys == list(EverySetting.model_fields)


def test_that_a_setting_says_beside_which_others_it_means_something() -> None:
    assert row(UNKNOWN, "## `[every]`", "literal")[2] == (
        'Literal description. Only with `choice = "light"` or `choice = "dark"`. '
        "Only with `switch = true`."
    )


def test_that_a_setting_outside_of_tables_stands_first() -> None:
    before, _, _ = UNKNOWN.partition("\n## ")
    assert (
        "| `name` | Name title | Name description. | text in quotes, 1 to 9 characters |" in before
    )


def test_that_tables_of_several_kinds_are_known_by_their_key() -> None:
    shape = section(UNKNOWN, "## `[shape]`")
    assert shape.startswith("`kind` says of which kind the table is, and is *required* in it.")
    assert 'Without this table: `kind = "ring"`, `radius = 9`.' in shape
    assert shape.count("| `filled` |") == 1
    assert section(UNKNOWN, '### `kind` = `"dot"`') == "A `point` of no extent."
    assert '### `kind` = `"circle"`, `"ring"`\n\nA round shape.\n' in shape


def test_that_tables_under_keys_of_ones_own_are_named_so() -> None:
    shapes = section(UNKNOWN, "## `[shapes.KEY]`")
    assert shapes.startswith("One for each place.")
    assert "| `radius` |" in shapes


def test_that_a_table_that_is_declared_itself_has_a_section_whatever_is_in_it() -> None:
    assert section(UNKNOWN, "## `[described.KEY]`") == "What it was."


def test_that_a_table_of_a_table_has_a_section() -> None:
    assert section(UNKNOWN, "## `[outer]`") == "What holds a table."
    assert "| `radius` |" in section(UNKNOWN, "## `[outer.spoken.KEY]`")


def test_that_a_table_without_declared_settings_is_left_out() -> None:
    assert "quiet" not in UNKNOWN
    assert "quiet_kinds" not in UNKNOWN
    assert "inner" not in UNKNOWN
    assert "silent" not in UNKNOWN

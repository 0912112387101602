"""Cells that look like numbers or dates, and are read as neither."""

import re
from typing import Final, Literal

from gpupanel.domain.written_numbers import is_number

Look = Literal["measure", "number", "date", ""]
"""A measure is a number however few different ones a column holds; others may be names then."""
_LONGEST: Final = 64
_NUMBER: Final = r"[-+~\u2248<>\u2264\u2265=\u00b1]{0,2} ?[0-9][0-9.,' ]{0,20}"
_UNITS: Final = (
    "kg|mg|\u00b5g|ug|lbs?|oz|km|cm|mm|\u00b5m|nm|mi|ft|inch(?:es)?|ml|mL|cl|dl|k?m\u00b2|k?m2|ha|"
    "[kKMGT]B|[kMG]?Hz|kWh?|MWh?|hp|bhp|PS|mAh|px|\u00b0[CF]?|mins?|minutes?|hrs?|hours?|days?|"
    "weeks?|months?|years?|yrs?|kmpl|km/h|mph|cc|Nm|rpm|bpm|mmHg|mg/dl|kcal|cal"
)
_MEASURE: Final = re.compile(rf"{_NUMBER} ?(?:{_UNITS})\.?|{_NUMBER} (?:g|m|l|L|h|s|t|W|V|A)")
_QUOTED: Final = re.compile(
    r"=?[\"'`\u2018\u2019\u201c]{1,3}([^\"'`]{1,40}?)[\"'`\u2019\u201d]{0,3}"
)
"""Spreadsheets take ="1" and '1 for texts."""
_OTHER_NUMBER: Final = re.compile(
    rf"[^\w\s]{{0,2}} ?{_NUMBER} ?[^\W\d_]{{1,6}}[.23]?|[~\u2248<>\u2264\u2265=\u00b1]{_NUMBER}"
    rf"|{_NUMBER}(?:\u00b1|\+/-){_NUMBER}|{_NUMBER}(?:[x*\u00d7\u00b7]) ?10\^?[-+]?\d+"
    rf"|{_NUMBER}/ ?[0-9]+"
)
_OTHER_DATE: Final = re.compile(
    r"\d{1,2}:\d\d(:\d\d)?( ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?"
    r"|\d{1,4}[-/. ]{1,2}(de )?[^\W\d_]{3,12}[-/., ]{1,2}(de )?\d{2,4}"
    r"|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[-/., ']{1,2}\d{2,4}"
    r"|(0?[1-9]|1[0-2])[-/.](19|20)\d\d|(19|20)\d\d[/.](0?[1-9]|1[0-2])"
    r"|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[T ].{1,30}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4} .{1,30}"
    r"|\d{4}[-/ ]?q[1-4]|q[1-4][-/ ]?\d{2,4}"
    r"|(mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}[., ]{1,2}[^\d]{0,10}\d{1,2}.{0,30}\d{4}"
    r"|\d{2,4}[\u5e74\ub144] ?\d{1,2}[\u6708\uc6d4]( ?\d{1,2}[\u65e5\uc77c])?"
    r"|pt?(\d+[dhms])+|(\d+ ?(d|h|m|s|min|sec|hrs?|days?) ?){2,4}",
    re.IGNORECASE,
)
"""Times, months with a year, quarters and durations."""


def look_of(cell: str) -> Look:
    """What a cell looks like that is read neither as a number nor as a date."""
    word = cell.strip()
    if len(word) >= _LONGEST:
        return ""
    quoted = _QUOTED.fullmatch(word)
    if (quoted and is_number(quoted[1])) or _MEASURE.fullmatch(word):
        return "measure"
    if _OTHER_DATE.fullmatch(word):
        return "date"
    return "number" if _OTHER_NUMBER.fullmatch(word) else ""

"""The colours and the style of the window, light and dark.

One place names every colour. Widgets that paint themselves read :func:`current` when they paint
(a change of theme repaints them); all others are styled by ``resources/styles``, whose
placeholders are the fields of :class:`Theme`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from string import Template

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication

from gpupanel.domain.time_spent import TimeCategory
from gpupanel.files import resources

GRID = 8
"""Pixels that every gap is a multiple of."""

_SMALL_TEXT = 0.88
"""The second of the two text sizes, as a part of the system's own."""
_LEAST_TEXT_PT = 7.0


@dataclass(frozen=True, slots=True)
class Theme:
    """The named colours of one theme, as ``#rrggbb``.

    Attributes:
        surface: Of cards, on the ``window``.
        raised: Of inputs and buttons, on a ``surface``.
        track: What bars and sliders fill.
        others: Memory that other people's processes hold, and all that has no colour of its own.
        processor: This machine's CPU.
        devices: One colour per GPU, distinguished by people who see fewer hues.
        activities: One colour for each :class:`~gpupanel.domain.time_spent.TimeCategory`, in their
            order: each stands out from the one before it in lightness, too.
    """

    name: str
    window: str
    surface: str
    raised: str
    hover: str
    border: str
    strong_border: str
    text: str
    muted: str
    faint: str
    accent: str
    accent_hover: str
    accent_text: str
    selection: str
    track: str
    others: str
    good: str
    warning: str
    error: str
    processor: str
    devices: tuple[str, ...]
    activities: tuple[str, ...]

    def color(self, role: str) -> QColor:
        """One of the named colours, for painting.

        Raises:
            AttributeError: There is no colour of that name.
        """
        return QColor(getattr(self, role))


# The device colours are those of Okabe and Ito ("Color Universal Design", 2008), moved in
# lightness until each stands out from the surface of its theme; violet takes the place of black.
LIGHT = Theme(
    name="light",
    window="#eef0f4",
    surface="#ffffff",
    raised="#f7f8fa",
    hover="#eceff4",
    border="#dde1e8",
    strong_border="#bcc3cf",
    text="#1b212b",
    muted="#5b6675",
    faint="#9aa3b0",
    accent="#3a5bd0",
    accent_hover="#2f4db8",
    accent_text="#ffffff",
    selection="#dce4fb",
    track="#e3e7ed",
    others="#a7afbb",
    good="#177546",
    warning="#8f5a00",
    error="#c2303a",
    processor="#5f7389",
    devices=(
        "#0072b2",
        "#c98000",
        "#009270",
        "#b34d88",
        "#3d9ad1",
        "#c24a00",
        "#575100",
        "#6a56c9",
    ),
    activities=(
        "#2f7d57",
        "#8fa9ee",
        "#d99a1c",
        "#c2502c",
        "#b7bec9",
        "#7b62c4",
        "#7cc3c3",
    ),
)
DARK = Theme(
    name="dark",
    window="#14171c",
    surface="#1c2027",
    raised="#262b34",
    hover="#2f3540",
    border="#2d333d",
    strong_border="#4a5361",
    text="#e4e8ee",
    muted="#9aa4b2",
    faint="#69727f",
    accent="#7f9cf5",
    accent_hover="#98b0f8",
    accent_text="#10131a",
    selection="#2f3d66",
    track="#2d333d",
    others="#7a8492",
    good="#4cc38a",
    warning="#f0b44c",
    error="#ff7d78",
    processor="#b4c3d4",
    devices=(
        "#4a9fe0",
        "#e69f00",
        "#1fb58a",
        "#d787b4",
        "#8fd0f2",
        "#e8713a",
        "#eee04a",
        "#a898ff",
    ),
    activities=(
        "#2f9a68",
        "#86a2f2",
        "#f0c35a",
        "#d9622f",
        "#737d8c",
        "#a898ff",
        "#4f9f9f",
    ),
)


class ThemeChanges(QObject):
    """Reports that the theme changed, for what keeps colours of its own, such as plots."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.theme = LIGHT
        self.chosen: Theme | None = None
        """What a person chose; ``None``: as the system is."""

    @Slot(Qt.ColorScheme)
    def follow(self, scheme: Qt.ColorScheme) -> None:
        """Show the theme that goes with the system's colour scheme, unless one was chosen."""
        application = QApplication.instance()
        if not isinstance(application, QApplication):
            return
        wanted = self.chosen or _theme_for(scheme)
        if wanted is not self.theme or not application.styleSheet():
            show(application, wanted)


changes = ThemeChanges()
"""Emits ``changed`` after every widget has its new style."""


def current() -> Theme:
    """The theme that is shown."""
    return changes.theme


DEVICE_COLORS = len(LIGHT.devices)
"""How many GPUs can be distinguished by colour."""
PROCESSOR_COLOR = -1
"""The number of this machine's CPU, which has a colour of its own."""


def device_color(number: int) -> QColor:
    """The colour of a device everywhere, by its number among the ``DeviceColors``."""
    theme = current()
    is_processor = number == PROCESSOR_COLOR
    return QColor(theme.processor if is_processor else theme.devices[number % DEVICE_COLORS])


def activity_color(activity: TimeCategory) -> QColor:
    """The colour of what a training's time goes to, everywhere."""
    return QColor(current().activities[tuple(TimeCategory).index(activity)])


def prepare(application: QApplication) -> None:
    """Give the application all but the style sheet: Qt's style, font and colours.

    With a style sheet Qt styles all that is in a widget anew whenever that gets a parent
    (``QWidgetPrivate::inheritStyle``): two thirds of the time that it takes to make a window.
    So the window is made between this and :func:`follow_system`.
    """
    application.setStyle("Fusion")
    font = application.font()
    # Figures of equal width, so that a number that changes does not move its neighbours.
    font.setFeature(QFont.Tag("tnum"), 1)
    application.setFont(font)
    changes.theme = _theme_for(application.styleHints().colorScheme())
    application.setPalette(_palette(changes.theme))


def follow_system(application: QApplication) -> None:
    """Show the theme of the system's colour scheme, now and whenever that changes."""
    hints = application.styleHints()
    hints.colorSchemeChanged.connect(changes.follow, Qt.ConnectionType.UniqueConnection)
    changes.follow(hints.colorScheme())


def choose(application: QApplication, chosen: Theme | None) -> None:
    """Show a theme from now on, whatever the system says; ``None``: follow the system again.

    Call it before :func:`follow_system`, or after.
    """
    changes.chosen = chosen
    if application.styleSheet():
        changes.follow(application.styleHints().colorScheme())


def show(application: QApplication, theme: Theme) -> None:
    """Dress the application in one theme, whatever the system says."""
    changes.theme = theme
    # From one sheet to another Qt takes seven times as long as from none.
    application.setStyleSheet("")
    application.setPalette(_palette(theme))
    application.setStyleSheet(style_sheet(theme, application.font()))
    changes.changed.emit()


@contextmanager
def painted_in(theme: Theme) -> Iterator[None]:
    """Let what is painted meanwhile look so, such as a picture for a file; the window stays."""
    before, changes.theme = changes.theme, theme
    try:
        yield
    finally:
        changes.theme = before


def small_font(font: QFont) -> QFont:
    """The font in the second of the two text sizes, for painting."""
    small = QFont(font)
    small.setPointSizeF(max(_LEAST_TEXT_PT, font.pointSizeF() * _SMALL_TEXT))
    return small


def style_sheet(theme: Theme, font: QFont) -> str:
    """The style sheet with the theme's colours in their places.

    Raises:
        KeyError: The style sheet names a colour that the theme does not have.
    """
    source = Template(resources.path("styles", "panel.qss").read_text(encoding="utf-8"))
    small = small_font(font).pointSizeF() if font.pointSizeF() > 0 else 9.0
    icons = resources.path("icons", theme.name).as_posix()
    return source.substitute(asdict(theme), small=f"{small:.1f}pt", icons=icons)


def _theme_for(scheme: Qt.ColorScheme) -> Theme:
    return DARK if scheme == Qt.ColorScheme.Dark else LIGHT


def _palette(theme: Theme) -> QPalette:
    role = QPalette.ColorRole
    palette = QPalette()
    for target, name in (
        (role.Window, "window"),
        (role.WindowText, "text"),
        (role.Base, "surface"),
        (role.AlternateBase, "raised"),
        (role.ToolTipBase, "raised"),
        (role.ToolTipText, "text"),
        (role.PlaceholderText, "muted"),
        (role.Text, "text"),
        (role.Button, "raised"),
        (role.ButtonText, "text"),
        (role.BrightText, "accent_text"),
        (role.Highlight, "accent"),
        (role.HighlightedText, "accent_text"),
        (role.Accent, "accent"),
        (role.Link, "accent"),
        (role.Light, "hover"),
        (role.Mid, "border"),
        (role.Dark, "strong_border"),
        (role.Shadow, "window"),
    ):
        palette.setColor(target, theme.color(name))
    for target in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, target, theme.color("faint"))
    return palette

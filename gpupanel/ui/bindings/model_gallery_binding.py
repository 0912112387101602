"""Opens the list of all models, and takes over which one was chosen."""

from PySide6.QtCore import QObject, Slot

from gpupanel.ui.panels.model_panel import ModelPanel


class ModelGalleryBinding(QObject):
    """What "All models…" does.

    Args:
        panel: Has the button, and the model.
        parent: The window.
    """

    def __init__(self, panel: ModelPanel, parent: QObject) -> None:
        super().__init__(parent)
        self._panel = panel
        panel.galleryRequested.connect(self.open)

    @Slot()
    def open(self) -> None:
        """Ask which model is wanted."""
        # Imported when it is asked for: many windows never need it.
        from gpupanel.planning.model_gallery import model_entries
        from gpupanel.ui.dialogs.model_gallery_dialog import ModelGalleryDialog

        entries = [each for each in model_entries() if self._panel.offers(each.kind)]
        dialog = ModelGalleryDialog(entries, self._panel.value().source, self._panel.window())
        dialog.modelChosen.connect(self._panel.choose_entry)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

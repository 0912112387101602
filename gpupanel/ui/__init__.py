"""The window: the only importer of PySide6 and pyqtgraph."""

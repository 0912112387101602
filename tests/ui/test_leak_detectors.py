"""The detectors in conftest.py must be able to fail."""

import pytest

pytest_plugins = ["pytester"]


@pytest.mark.slow
def test_that_a_test_that_leaves_a_timer_a_thread_or_a_window_fails(pytester, request):
    conftest = request.path.parent / "conftest.py"
    pytester.makeconftest(conftest.read_text(encoding="utf-8"))
    pytester.makepyfile(
        """
        from PySide6.QtCore import QThread, QTimer
        from PySide6.QtWidgets import QWidget

        KEPT = []

        def test_timer(qtbot):
            timer = QTimer()
            timer.start(1000)
            KEPT.append(timer)

        def test_thread(qtbot):
            thread = QThread()
            thread.start()
            KEPT.append(thread)

        def test_window(qtbot):
            window = QWidget()
            window.show()
            KEPT.append(window)

        def test_the_end(qtbot):
            KEPT[1].quit()
            KEPT[1].wait()
            KEPT[2].close()
            KEPT[0].stop()
            KEPT.clear()
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-q")
    result.assert_outcomes(passed=4, errors=3)
    result.stdout.fnmatch_lines_random(
        [
            "*a QTimer still runs, started at*",
            "*a QThread still runs, started at*",
            "*is still shown*",
        ]
    )

"""What is asked of a download and answered crosses a process as JSON."""

from gpupanel.domain.data import KerasData
from gpupanel.domain.data_download import DownloadEnd, DownloadProgress, DownloadRequest
from gpupanel.domain.problem import Problem


def test_that_question_and_answers_are_the_same_after_they_were_written() -> None:
    problem = Problem(code="download_failed", message="It cannot be reached.", hint="Try again.")
    for value in (
        DownloadRequest(data=KerasData(source="mnist")),
        DownloadProgress(done=5),
        DownloadProgress(done=5, total=9),
        DownloadEnd(),
        DownloadEnd(problems=(problem,)),
    ):
        assert type(value).model_validate_json(value.model_dump_json()) == value

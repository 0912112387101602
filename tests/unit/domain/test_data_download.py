"""What the process that downloads is asked, and what it answers, survives the way as JSON."""

from gpupanel.domain.data import KerasData
from gpupanel.domain.data_download import DownloadEnd, DownloadProgress, DownloadRequest
from gpupanel.domain.problem import Problem


def test_that_question_and_answers_come_back_as_they_were() -> None:
    for value in (
        DownloadRequest(data=KerasData(source="cifar10")),
        DownloadProgress(done=3),
        DownloadProgress(done=3, total=9),
        DownloadEnd(),
        DownloadEnd(problems=(Problem(code="x", message="No network."),)),
    ):
        assert type(value).model_validate_json(value.model_dump_json()) == value

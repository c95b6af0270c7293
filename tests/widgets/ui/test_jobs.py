"""Progress is thinned out, and cancel stops work at its next report."""

import pytest

from lvmkit_widgets.ui.jobs import BackgroundJob, Cancelled, Progress, time_left


def test_frequent_reports_are_thinned_out_but_new_texts_are_not():
    heard = []
    progress = Progress(lambda text, share: heard.append((text, share)))
    for i in range(1000):
        progress("EM", i / 1000)
    progress("Scores", 0.0)
    assert len(heard) < 500
    assert heard[0] == ("EM", 0.0)
    assert heard[-1] == ("Scores", 0.0)


def test_cancelled_work_stops_at_its_next_report():
    progress = Progress(lambda text, share: None)
    progress.cancel()
    with pytest.raises(Cancelled):
        progress("EM", 0.1)


def test_a_job_hands_on_its_result_or_its_failure():
    results, failures = [], []
    quiet = Progress(lambda text, share: None)
    options = {"done": results.append, "failed": failures.append, "progress": quiet}
    BackgroundJob(lambda _: 3, **options).run(lambda follow: follow())
    BackgroundJob(lambda _: int("x"), **options).run(lambda follow: follow())
    assert results == [3]
    assert isinstance(failures[0], ValueError)


@pytest.mark.parametrize(
    ("elapsed", "fraction", "words"),
    [
        (1.0, 0.01, ""),
        (10.0, None, ""),
        (10.0, 0.0, ""),
        (10.0, 0.9, ""),
        (10.0, 0.5, ", about 10 s left"),
        (10.0, 0.2, ", about 40 s left"),
        (30.0, 0.1, ", about 4 minutes left"),
    ],
)
def test_the_time_left_is_told_once_it_is_known(elapsed, fraction, words):
    assert time_left(elapsed, fraction) == words


def test_a_long_job_says_how_long_it_will_take(monkeypatch):
    told, clock = [], iter([0.0, 1.0, 20.0])
    monkeypatch.setattr("lvmkit_widgets.ui.jobs.time.monotonic", lambda: next(clock))
    progress = Progress(lambda text, fraction: told.append(text))
    progress("starts", 0.1)
    progress("starts", 0.4)
    assert told == ["starts", "starts, about 30 s left"]

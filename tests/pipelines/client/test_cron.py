import pytest

from leakscape.errors import InputError
from pipelines.client import cron


@pytest.mark.parametrize(
    "expression",
    ["0 0 3 * * *", "0 30 2 ? * MON-FRI", "*/15 * * * * *", "0 0 0 1,15 jan-jun 0", "0 0 12 29 2 *", "5-10 0 0 * * *"],
)
def test_schedules_that_fit(expression: str):
    assert cron.check(f" {expression} ".replace(" ", "  ")) == expression


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 3 * * *", r"six fields .* not 5: .* put a 0 for the second"),
        ("@daily", "not 1"),
        ("0 0 3 * * * 2026", "not 7"),
        ("0 0 24 * * *", "the hour of the schedule is '24'"),
        ("60 0 3 * * *", "the second of the schedule is '60'"),
        ("0 0 3 * 13 *", "the month"),
        ("0 0 3 * * 7", "the day of week"),  # croniter takes 7 for Sunday, the server does not
        ("0 0 3 L * *", "the day of month"),
        ("0 0 3 * * MON#2", "the day of week"),
        ("R 0 3 * * *", "the second"),
        ("0 0 3 5-1- * *", "the day of month"),
        ("0 0 3 30 2 *", "never comes due"),
    ],
)
def test_schedules_that_do_not_fit_are_told_in_a_sentence(expression: str, words: str):
    with pytest.raises(InputError, match=words):
        cron.check(expression)

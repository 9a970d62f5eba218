import pytest

from leakscape.records.values import is_date, plain, strip_numbers


@pytest.mark.parametrize(
    ("name", "stripped"),
    [
        ("Abraham100", "Abraham"),
        ("O'Reilly797", "O'Reilly"),
        ("Verónica383", "Verónica"),
        ("María123 José4", "María José"),
        ("Smith-Jones12", "Smith-Jones"),
        ("R2D2", "R2D"),
        ("Ann1234", "Ann1234"),  # Synthea appends three digits at most
        ("99", "99"),
        ("", ""),
    ],
)
def test_numbers_leave_names(name: str, stripped: str):
    assert strip_numbers(name) == stripped


def test_plain_values_hold_single_spaces_and_no_comma():
    assert plain(" insulin isophane,  human\r\n70\x00UNT/ML\u2028") == "insulin isophane human 70 UNT/ML"


@pytest.mark.parametrize("value", ["", "2020-02-30", "20200101", "2020-1-1", "x", "2020-01-01T00:00:00Z"])
def test_other_forms_are_no_date(value: str):
    assert not is_date(value)
    assert is_date("2020-02-29")

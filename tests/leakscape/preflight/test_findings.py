import errno

import pytest

from leakscape.errors import DependencyError, InputError, TransientError
from leakscape.preflight.findings import Finding, State, judge, look, markdown


def finding(name: str, state: State) -> Finding:
    return Finding(what="model", name=name, state=state, words=f"words of {name}.")


def test_all_that_is_missing_is_named_at_once():
    found = [
        finding("a", State.MISSING),
        finding("b", State.FINE),
        finding("c", State.AWAY),
        finding("d", State.MISSING),
    ]
    with pytest.raises(InputError) as raised:
        judge(found)
    assert str(raised.value).splitlines() == [
        "2 of what this audit needs is missing:",
        "- model a: words of a.",
        "- model d: words of d.",
        "- model c: words of c.",
    ]


def test_what_is_away_may_come_back():
    with pytest.raises(TransientError, match=r"a service is away:\n- model c"):
        judge([finding("b", State.FINE), finding("c", State.AWAY)])


def test_what_can_not_be_read_is_no_fault():
    judge([finding("a", State.UNKNOWN), finding("b", State.FINE)])


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (InputError("x"), State.MISSING),
        (DependencyError("x"), State.MISSING),
        (TransientError("x"), State.AWAY),
    ],
)
def test_an_error_becomes_a_finding(error: Exception, state: State):
    def ask() -> str:
        raise error

    assert look("model", "a", ask) == Finding(what="model", name="a", state=state, words="x")


def test_a_place_without_rights_is_a_finding_too():
    def ask() -> str:
        raise PermissionError(errno.EACCES, "Permission denied", "/audits")

    found = look("place", "/audits", ask)
    assert (found.state, found.words) == (State.MISSING, "Permission denied; check the path and the rights to it.")


def test_a_fault_of_ours_stays_one():
    def ask() -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        look("model", "a", ask)


def test_the_page_begins_with_what_is_missing_and_breaks_no_table():
    page = markdown([finding("b", State.FINE), finding("a|b", State.MISSING)])
    rows = [line for line in page.splitlines() if line.startswith("| model")]
    assert rows == ["| model | a\\|b | missing | words of a\\|b. |", "| model | b | fine | words of b. |"]

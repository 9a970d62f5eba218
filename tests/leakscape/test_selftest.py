import json
from collections.abc import Iterator

import pytest

from leakscape import cli
from leakscape.statistics import null
from leakscape.statistics.null_outcome import NullTest


def found(observed: float) -> NullTest:
    return NullTest(name="epsilon: bound is 0", expected=0.95, observed=observed, error=0.001, rule="at least", draws=9)


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch) -> list[NullTest]:
    outcomes: list[NullTest] = []

    def tests(draws: int, seed: int) -> Iterator[NullTest]:
        assert (draws, seed) == (200, 3)
        return iter(outcomes)

    monkeypatch.setattr(null, "null_tests", tests)
    return outcomes


def test_the_table_names_what_passed(outcome: list[NullTest], capsys: pytest.CaptureFixture[str]):
    outcome.append(found(0.96))
    assert cli.main(["selftest", "--draws", "200", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert "epsilon: bound is 0" in shown
    assert "1 of 1 passed" in shown


def test_a_failed_null_test_is_a_fault_of_ours(outcome: list[NullTest], capsys: pytest.CaptureFixture[str]):
    outcome += [found(0.96), found(0.9)]
    assert cli.main(["selftest", "--draws", "200", "--seed", "3", "--json"]) == 1
    captured = capsys.readouterr()
    shown = json.loads(captured.out)
    assert (shown["passed"], [test["passed"] for test in shown["tests"]]) == (False, [True, False])
    assert "1 of 2 null tests failed (epsilon: bound is 0)" in captured.err


def test_it_runs_for_real(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(null, "TESTS", (null.exposure_ties, null.sign_flips, null.exact_coverage))
    assert cli.main(["selftest", "--draws", "100", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["tests"]) == 3


@pytest.mark.parametrize("argv", [["--draws", "10"], ["--draws", "many"], ["--seed", "-1"], ["--seed", "4294967296"]])
def test_wrong_numbers_are_refused(argv: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(["selftest", *argv])
    assert ended.value.code == 2
    assert argv[0] in capsys.readouterr().err

"""`leakscape selftest`."""

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leakscape.cli.common import add_json, answer, answer_json, command
from leakscape.errors import EXIT_DONE, LeakscapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leakscape.statistics.null_outcome import NullTest

_FEWEST = 100  # draws below which the error passes anything


def add(commands: Any) -> None:  # noqa: ANN401 - argparse's own type is private
    """Add the command."""
    made = command(
        commands,
        "selftest",
        _selftest,
        "Put scores that hold nothing through the statistics and check that they find nothing.",
        "leakscape selftest --draws 4000",
    )
    made.add_argument(
        "--draws", metavar="N", type=_draws, default=1000, help="simulations of each test, from 100 (default: 1000)"
    )
    made.add_argument("--seed", metavar="N", type=_seed, default=0, help="of the simulations (default: 0)")
    add_json(made)


def _selftest(arguments: argparse.Namespace) -> int:
    from leakscape.progress import track
    from leakscape.statistics import null

    tests = null.null_tests(arguments.draws, arguments.seed)
    found = list(track(tests, total=len(null.TESTS), what="null tests"))
    failed = [test.name for test in found if not test.passed]
    if arguments.json:
        answer_json(
            {
                "draws": arguments.draws,
                "seed": arguments.seed,
                "passed": not failed,
                "tests": [{**asdict(test), "passed": test.passed} for test in found],
            }
        )
    else:
        answer(_text(found))
    if failed:
        raise LeakscapeError(
            f"{len(failed)} of {len(found)} null tests failed ({'; '.join(failed)}): figures of this installation "
            "can't be trusted. Please report it with the versions of numpy and scipy."
        )
    return EXIT_DONE


def _text(found: "Sequence[NullTest]") -> str:
    from pipelines.show import printed, table

    numbers = ("must be", "was", "error")
    made = table("scores that hold nothing", "", *numbers, "", numbers=numbers)
    for test in found:
        rule = "about" if test.rule == "equal" and test.allowance else test.rule
        made.add_row(test.name, rule, f"{test.expected:.4g}", f"{test.observed:.4g}", f"{test.error:.2g}", _word(test))
    passed = sum(test.passed for test in found)
    said = (
        f"{passed} of {len(found)} passed. The error is the simulation's; four of it are allowed, and for figures that "
        "are approximations what docs/metrics.md says of them."
    )
    return printed([made, said])


def _word(test: "NullTest") -> str:
    return "passed" if test.passed else "FAILED"


def _draws(text: str) -> int:
    if not text.isdecimal() or not _FEWEST <= int(text) <= 10**6:
        raise argparse.ArgumentTypeError(f"takes a whole number from {_FEWEST} to a million, not {text}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"takes a whole number from 0 to {2**32 - 1}, not {text}")
    return int(text)

"""Ends a run."""

from components.finish.contract import Finish
from leakscape import artifacts
from leakscape.errors import LeakscapeError
from leakscape.progress import say
from leakscape.storage import open_place

SUCCEEDED = "SUCCEEDED"
_LEFT_OVER = 86_400.0  # seconds; no upload of ours takes a day


def run(contract: Finish) -> None:
    """Write how the run ended, and sweep; what can't be swept is told and fails nothing."""
    state = str(contract.status.get("state") or "unknown")
    lines = [f"# {contract.plan or 'The run'}: {state.lower()}", ""]
    if state != SUCCEEDED:
        lines += [
            "The first step that failed tells why in its log; the next run takes those that are done from the cache."
        ]
    lines += [f"- {place}: {_sweep(place)}" for place in contract.places]
    artifacts.write_file(contract.outcome, "\n".join(lines) + "\n")
    say(f"the run ended: {state.lower()}")


def _sweep(place: str) -> str:
    try:
        with open_place(place) as opened:
            opened.sweep(older_than=_LEFT_OVER)
    except LeakscapeError as error:
        return f"could not be swept: {error}"
    except OSError as error:
        return f"could not be swept: {error.strerror or type(error).__name__}."
    return "unfinished uploads of more than a day ago are given up"

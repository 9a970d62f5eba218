"""`leakscape COMPONENT --flag value`: the only program that a container runs.

Whatever goes wrong becomes one or two sentences on stderr and an exit code that tells the orchestrator whether to try
again. A message that we did not write may hold a record, so an unexpected exception shows its type and its frames
alone; `LEAKSCAPE_DEBUG=1` shows all of it.
"""

import contextlib
import errno
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import components
from leakscape import arguments, executor, lifeline
from leakscape.contract import spec
from leakscape.errors import (
    EXIT_BROKEN_PIPE,
    EXIT_DONE,
    EXIT_FAULT,
    EXIT_INPUT,
    EXIT_INTERRUPTED,
    EXIT_TRANSIENT,
    ContractError,
    DependencyError,
    InputError,
    LeakscapeError,
)
from leakscape.progress import say
from leakscape.termination import Terminated, unwinding

if TYPE_CHECKING:
    from pathlib import Path

DEBUG = "LEAKSCAPE_DEBUG"

_OURS = ("leakscape", "components", "pipelines")
_QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}


def run_component(name: str, argv: Sequence[str]) -> int:
    """Run a component with command-line arguments and give its exit code.

    Args:
        name: the component's name, for example `lora-train`.
        argv: what follows it on the command line.
    """
    try:
        with _quiet(), unwinding():
            lifeline.follow()
            _run(name, argv)
    except SystemExit as ended:  # --help
        return ended.code if isinstance(ended.code, int) else EXIT_FAULT
    except BaseException as error:  # noqa: BLE001
        return _explain(name, error)
    return EXIT_DONE


def _run(name: str, argv: Sequence[str]) -> None:
    contract = find(name)
    instance, given = arguments.read(contract, argv)
    executor_input = executor.read_executor_input(given) if given else None
    _make_room(instance)
    try:
        components.load_run(name)(instance)
    except ModuleNotFoundError as error:
        _refuse_missing(name, error)
    if executor_input is not None:
        executor.write_executor_output(instance, executor_input)


def _make_room(instance: object) -> None:
    """Make the outputs' parents; refuse a taken place now, not after the work whose result has nowhere to go.

    Raises:
        ContractError: something lies where an output goes.
    """
    for field in spec(instance).outputs:
        path: Path = getattr(instance, field.name)
        if (path.is_file() and path.stat().st_size) or (path.is_dir() and any(path.iterdir())):
            raise ContractError(f"{field.flag}: {path} exists already; nothing is overwritten: choose another place.")
        path.parent.mkdir(parents=True, exist_ok=True)


def find(name: str) -> type:
    """The contract of the component with this name.

    Raises:
        InputError: there is no such component.
    """
    known = components.contracts()
    if name not in known:
        raise InputError(f"There is no component {name!r}; there are {', '.join(known)}.")
    return known[name]


def _refuse_missing(name: str, error: ModuleNotFoundError) -> NoReturn:
    module = (error.name or "").partition(".")[0]
    if not module or module in _OURS:
        raise error
    raise DependencyError(
        f"{name} needs {module}, which is not installed here; components/{name.replace('-', '_')}/requirements.in "
        "lists what it needs."
    ) from error


def _explain(name: str, error: BaseException) -> int:
    """Say what went wrong and give the exit code for it."""
    if isinstance(error, BrokenPipeError):
        # The reader is gone; without this the interpreter complains again when it flushes stdout.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    if os.environ.get(DEBUG) == "1":
        traceback.print_exception(error)
    sentence, code = _sentence(error)
    if sentence:
        say(f"leakscape {name}: {sentence}")
    else:
        _say_frames(name, error)
    return code


def _sentence(error: BaseException) -> tuple[str, int]:
    """The sentence and the exit code for an error; no sentence for one that nobody foresaw."""
    found = "", EXIT_FAULT
    match error:
        case LeakscapeError():
            found = str(error), error.exit_code
        case KeyboardInterrupt():
            found = "interrupted.", EXIT_INTERRUPTED
        case Terminated():
            found = "stopped by SIGTERM; nothing half-written was left. Run it again.", EXIT_TRANSIENT
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            found = f"the disk is full{_at(error)}; make room and run the step again.", EXIT_FAULT
        case PermissionError() | OSError(errno=errno.EROFS):
            found = f"permission denied{_at(error)}.", EXIT_INPUT
        case OSError(errno=errno.EEXIST | errno.ENOTDIR | errno.ENAMETOOLONG):
            found = f"no folder can be made{_at(error)}: {error.strerror}.", EXIT_INPUT
        case MemoryError():
            found = "the memory ran out; give the step more, or lower its batch size.", EXIT_FAULT
        case _ if type(error).__name__ == "OutOfMemoryError":  # torch's; importing torch here would cost seconds
            found = "the accelerator's memory ran out; lower the batch size or take a larger device.", EXIT_FAULT
    return found


def _at(error: OSError) -> str:
    return f" at {error.filename}" if error.filename else ""


def _say_frames(name: str, error: BaseException) -> None:
    say(f"leakscape {name}: a fault of ours, {type(error).__name__}. {DEBUG}=1 shows its message too.")
    chained: BaseException | None = error
    while chained is not None:
        for frame in traceback.extract_tb(chained.__traceback__):
            say(f"  {frame.filename}:{frame.lineno} in {frame.name}")
        chained = chained.__cause__ or (None if chained.__suppress_context__ else chained.__context__)
        if chained is not None:
            say(f"which came of {type(chained).__name__}:")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep third-party logs, warnings and bars off stderr: they may quote what they work on."""
    if os.environ.get(DEBUG) == "1":
        yield
        return
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)

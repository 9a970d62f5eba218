"""The exceptions of leakscape and the exit codes they become.

    LeakscapeError            1   a fault of ours
    ├── IntegrityError        1   a step lost, doubled or moved a record: never go on
    ├── InputError            2   wrong use or input: never retry
    │   ├── PlanError         2   a plan that does not fit its schema (path and line)
    │   ├── ContractError     2   a component's argument out of its range
    │   ├── ArtifactError     2   an artifact whose schema, hash or row does not fit (file and line)
    │   ├── RecordError       2   a source record that can't be read (file, line or resource, field)
    │   └── DependencyError   2   a library or program that this step needs is not installed
    ├── GateError             3   the gate failed: never retry
    └── TransientError       75   a service was busy or away: retry

Messages name files, lines, fields and ids, and say what to do. They never hold a value of a record.
"""

from typing import ClassVar

EXIT_DONE = 0
EXIT_FAULT = 1
EXIT_INPUT = 2
EXIT_GATE = 3
EXIT_TRANSIENT = 75
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


class LeakscapeError(Exception):
    """Root of the tree; its exit code tells an orchestrator whether to try again."""

    exit_code: ClassVar[int] = EXIT_FAULT


class IntegrityError(LeakscapeError):
    """Ids in are not ids out."""


class InputError(LeakscapeError):
    """Something the user gave is wrong."""

    exit_code = EXIT_INPUT


class PlanError(InputError):
    """A plan does not fit its schema."""


class ContractError(InputError):
    """A component's argument is missing, of the wrong type or out of range."""


class ArtifactError(InputError):
    """An artifact can't be trusted: wrong schema, changed bytes or a malformed row."""


class RecordError(InputError):
    """A source record can't be read."""


class DependencyError(InputError):
    """A library or program that this step needs is not installed."""


class GateError(LeakscapeError):
    """The verdict is against the model."""

    exit_code = EXIT_GATE


class TransientError(LeakscapeError):
    """A service was busy or away; the same call may succeed later."""

    exit_code = EXIT_TRANSIENT

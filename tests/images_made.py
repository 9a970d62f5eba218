"""What the tests of the images share."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PYTHON_BASE = "localhost/leakscape-python-base:3.11"
REPOSITORY = "localhost/leakscape"
BUILT = ("base", "evaluate")


def run(*command: str | Path, **environment: str) -> str:
    """What a command writes; its complaint if it fails."""
    done = subprocess.run(
        [str(part) for part in command], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def facts(name: str) -> dict[str, Any]:
    """What the engine knows of an image that was built here."""
    [found] = json.loads(run("podman", "image", "inspect", f"{REPOSITORY}/{name}:dev"))
    return dict(found)


def is_there(image: str) -> bool:
    """Whether the engine has an image."""
    done = subprocess.run(["podman", "image", "exists", image], check=False)  # noqa: S607 - wherever it is installed
    return done.returncode == 0

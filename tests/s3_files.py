"""Files for the tests of places: larger than one part of an upload, and known again by their hash."""

import hashlib
import os
from pathlib import Path


def large(tmp_path: Path) -> Path:
    """20 MB in three parts."""
    file = tmp_path / "large"
    file.write_bytes(os.urandom(20 << 20))
    return file


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()

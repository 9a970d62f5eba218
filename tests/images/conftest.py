"""Images built here for real, from Debian's packages and the wheels that pip finds, and an engine to run them."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from images_made import BUILT, PYTHON_BASE, REPOSITORY, ROOT, facts, is_there, run

NEEDED = ("buildah", "mmdebstrap", "podman", "runc")
SERVICE = "exec 3<&{}; LISTEN_FDS=1 LISTEN_PID=$$ exec podman system service --time=0"


@pytest.fixture(scope="session")
def engine() -> Iterator[Path]:
    """podman and buildah, set up so that they run in a sandbox too; gives a folder for what they are handed."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing or os.geteuid():
        why = f"images are built by root with {', '.join(NEEDED)}; missing here: {', '.join(missing) or 'root'}"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("CONTAINERS_CONF", str(Path(__file__).with_name("containers.conf")))
        yield Path(folder)


@pytest.fixture(scope="session")
def wheels(engine: Path) -> Path:
    """The locked distributions of the images that are built here, each held against its hash."""
    folder = engine / "wheels"
    run("sh", ROOT / "tools" / "wheelhouse.sh", folder, *BUILT, PYTHON=sys.executable)
    if not list(folder.glob("torch-*+cpu-*")):
        pytest.skip("pip finds no CPU build of torch here, and the CUDA libraries would take gigabytes")
    return folder


@pytest.fixture(scope="session")
def images(wheels: Path) -> dict[str, str]:
    """The images by digest, for every environment that has one built here or can be stood in for.

    The evaluate image stands in for the train image, whose libraries it holds but for those of DP-SGD. The base image
    answers for the rewrite image, whose libraries take gigabytes: that shows the contracts alone.
    """
    if not is_there(PYTHON_BASE):
        run("sh", ROOT / "tools" / "bootstrap_base.sh", PYTHON_BASE)
    asked = ("--base-image", PYTHON_BASE, "--repository", REPOSITORY, "--accelerator", "cpu", "--wheels", wheels)
    run(sys.executable, ROOT / "tools" / "images.py", *asked, "--option=--isolation=chroot", *BUILT)
    base, evaluate = (f"{REPOSITORY}/{name}@{facts(name)['Digest']}" for name in BUILT)
    return {"base": base, "evaluate": evaluate, "train": evaluate, "rewrite": base}


@pytest.fixture(scope="session")
def docker_host(engine: Path) -> Iterator[str]:
    """podman's service, which speaks Docker's API; it is handed a socket that listens already."""
    path = engine / "podman.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(16)
        command = ["bash", "-c", SERVICE.format(listening.fileno())]
        served = subprocess.Popen(command, pass_fds=[listening.fileno()])
        try:
            yield f"unix://{path}"
        finally:
            served.terminate()
            served.wait()

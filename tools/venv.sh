#!/bin/sh
# Make the virtual environment: tools/venv.sh FOLDER
# Installs the locked requirements with hashes, the CUDA libraries only where pip took the CUDA build of torch, and
# leakscape itself from this checkout.
set -eu

folder=${1:-.venv}
python=${PYTHON:-python3}
here=$(dirname "$0")/..

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "leakscape needs Python 3.11 or newer; $python is older. Name another one: make PYTHON=python3.12 ..." >&2
    exit 2
}
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"

pip() {
    "$folder/bin/python" -m pip -qq --disable-pip-version-check "$@"
}

echo "installing the locked requirements into $folder (a few minutes the first time)"

# pip judges by hash only among files whose index states one, which would pass over a CPU build that lies in a folder.
# So it first chooses torch as it always does, and the lock then judges what it chose.
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
pip download --no-deps --dest "$wheels" "$(grep -o '^torch==[0-9.]*' "$here/requirements/torch.lock")"
pip install --no-deps --require-hashes --no-index --find-links "$wheels" -r "$here/requirements/torch.lock"
if "$folder/bin/python" -c 'import sys
from importlib.metadata import requires
sys.exit(not any(name.startswith(("nvidia-", "cuda-")) for name in requires("torch") or ()))'; then
    pip install --no-deps --require-hashes -r "$here/requirements/cuda.lock"
fi
pip install --no-deps --require-hashes -r "$here/requirements/laptop.lock"
pip install --no-deps --no-build-isolation -e "$here"
touch "$folder/.ready"

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

install() {
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$@"
}

echo "installing the locked requirements into $folder (a few minutes the first time)"
install --require-hashes -r "$here/requirements/laptop.lock"
if "$folder/bin/python" -c 'from importlib.metadata import requires; raise SystemExit(not any(r.startswith("nvidia-") for r in requires("torch")))'; then
    install --require-hashes -r "$here/requirements/cuda.lock"
fi
install --no-build-isolation -e "$here"
touch "$folder/.ready"

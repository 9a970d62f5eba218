#!/bin/sh
# Download what the images' locks name, for builds without an index: tools/wheelhouse.sh FOLDER IMAGE...
# For this machine's kind of processor, with Python 3.11; torch is the build that pip finds here.
set -eu

folder=$1
shift
here=$(dirname "$0")/..
python=${PYTHON:-python3}
mkdir -p "$folder"

download() {
    "$python" -m pip download -qq --disable-pip-version-check --no-deps --dest "$folder" "$@"
}

# setuptools and wheel build what comes without a wheel, in the image; nothing is built here.
download --require-hashes -r "$here/images/build.lock"
for image in "$@"; do
    # pip judges by hash only among files whose index states one, which would pass over a CPU build in a folder: it
    # chooses torch by itself, and the image's build holds what it chose against the lock.
    lock=$here/images/$image/requirements.lock
    rest=$(mktemp)
    awk '/^[a-z0-9]/ { torch = /^torch==/ } !torch' "$lock" > "$rest"
    download --no-build-isolation --require-hashes -r "$rest"
    rm "$rest"
    for torch in $(grep -o '^torch==[0-9.]*' "$lock"); do
        download "$torch"
    done
done

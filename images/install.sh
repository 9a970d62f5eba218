#!/bin/sh
# In an image's first stage, into /opt/leakscape:
#   install.sh locks    what the locks beside this script name; cuda.lock is left out where ACCELERATOR is cpu
#   install.sh wheel    leakscape, from the source in this folder
# pip stays in /opt/build. Bytecode is made here, since the root is read-only later, and is not held against the
# dates of the files, which the build may set.
set -eu

wheels=$(mktemp -d)
site=/opt/leakscape/lib/python3.11/site-packages

case $1 in
locks)
    python3.11 -m venv /opt/build
    /opt/build/bin/pip install -q --no-deps --require-hashes -r build.lock
    python3.11 -m venv --without-pip /opt/leakscape
    set -- --require-hashes -r requirements.lock
    if [ -e cuda.lock ] && [ "${ACCELERATOR:-cuda}" != cpu ]; then
        set -- "$@" -r cuda.lock
    fi
    compiled=$site
    ;;
wheel)
    # An image doesn't know its own digest, and what runs inside one names no images.
    mkdir -p images
    echo "images: {}" > images/digests.yaml
    set -- .
    compiled="$site/leakscape $site/components $site/pipelines"
    ;;
esac

/opt/build/bin/pip wheel -q --no-deps --no-build-isolation --no-cache-dir -w "$wheels" "$@"
/opt/build/bin/pip --python /opt/leakscape/bin/python install -q --no-deps --no-index --no-compile "$wheels"/*.whl
rm -r "$wheels"
# shellcheck disable=SC2086 # several folders
python3.11 -m compileall -q -j 0 --invalidation-mode unchecked-hash $compiled

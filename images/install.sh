#!/bin/sh
# In an image's first stages:
#   install.sh locks    what the locks beside this script name, into /opt/leakscape; cuda.lock is left out where
#                       ACCELERATOR is cpu
#   install.sh wheel    leakscape, from the source in this folder, into /leakscape, to be copied over the root
# pip stays in /opt/build. Bytecode is made here, since the root is read-only later, and is not held against the
# dates of the files, which the build may set.
set -eu

environment=/opt/leakscape
python=$environment/bin/python
wheels=$(mktemp -d)

make_wheels() {
    /opt/build/bin/pip wheel -q --no-deps --no-build-isolation --no-cache-dir -w "$wheels" "$@"
}

install_wheels() {
    /opt/build/bin/pip --python "$python" install -q --no-deps --no-index --no-compile "$@" "$wheels"/*.whl
    rm -r "$wheels"
}

make_bytecode() {
    python3.11 -m compileall -qq -j 0 -s "$1" -p / --invalidation-mode unchecked-hash "$1$environment/lib"
}

case $1 in
locks)
    python3.11 -m venv /opt/build
    /opt/build/bin/pip install -q --no-deps --require-hashes -r build.lock
    python3.11 -m venv --without-pip "$environment"
    set -- --require-hashes -r requirements.lock
    if [ -e cuda.lock ] && [ "${ACCELERATOR:-cuda}" != cpu ]; then
        set -- "$@" -r cuda.lock
    fi
    make_wheels "$@"
    install_wheels
    # Some libraries ship files for other versions of Python; like pip, pass over what does not compile.
    make_bytecode "" || :
    ;;
wheel)
    make_wheels .
    install_wheels --prefix "/leakscape$environment"
    make_bytecode /leakscape
    ;;
esac

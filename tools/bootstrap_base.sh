#!/bin/sh
# Make a base image from Debian's packages where no registry can be reached: tools/bootstrap_base.sh NAME
# Debian bookworm at its smallest, with its Python 3.11. Needs root, mmdebstrap and podman.
set -eu

name=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mmdebstrap --quiet --mode=root --variant=minbase --include=ca-certificates,python3,python3-venv \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' bookworm "$root/base.tar"
podman import --quiet --change 'CMD=["python3"]' "$root/base.tar" "$name"

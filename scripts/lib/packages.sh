# shellcheck shell=bash
# Installs what a script needs and the machine does not have. To be sourced.

# need_packages: takes pairs of a command that tells whether something is there and the Debian
# package that brings it, and installs the packages whose command fails.
need_packages() {
    local missing=()
    while [ $# -gt 0 ]; do
        if ! eval "$1" >/dev/null 2>&1; then
            missing+=("$2")
        fi
        shift 2
    done
    if [ ${#missing[@]} -eq 0 ]; then
        return
    fi
    if ! command -v apt-get >/dev/null; then
        echo "Please install what Debian calls: ${missing[*]}" >&2
        return 1
    fi
    echo "Installing ${missing[*]}"
    as_root apt-get update -qq
    without_services as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
}

# without_services COMMAND…: runs a command during which packages start no service. The checks start
# their own, and a web server that finds no free port would fail its installation.
without_services() {
    local policy=/usr/sbin/policy-rc.d made='' status=0
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod 755 "$policy"
        made=yes
    fi
    "$@" || status=$?
    if [ -n "$made" ]; then
        as_root rm -f "$policy"
    fi
    return "$status"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "This needs root, and there is no sudo: $*" >&2
        return 1
    fi
}

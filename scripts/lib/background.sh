# shellcheck shell=bash
# One piece of work beside the script's own. To be sourced.

# in_background LOG COMMAND…: runs the command in a process group of its own, so that it can be
# stopped with everything it started, and keeps what it prints in LOG.
in_background() {
    background_log=$1
    shift
    set -m
    "$@" >"$background_log" 2>&1 &
    set +m
    background_process=$!
}

# Waits for it, prints what it printed, and fails if it failed. Does nothing the second time.
wait_for_background() {
    local status=0
    if [ -n "${background_process:-}" ]; then
        wait "$background_process" || status=$?
        background_process=
        cat "$background_log"
    fi
    return "$status"
}

stop_background() {
    if [ -n "${background_process:-}" ]; then
        kill -- "-$background_process" 2>/dev/null || true
        wait_for_background || true
    fi
}

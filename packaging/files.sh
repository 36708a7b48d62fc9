# shellcheck shell=bash
# What the packages of a release have in common: names, the program without its symbols, its manual pages,
# completions and examples. To be sourced in the repository's folder.

# The oldest C library that the program may need: that of Debian 12.
GLIBC_FLOOR=2.36

# program_version: that of the workspace. PACKAGE_VERSION is for trials of upgrades.
program_version() {
    echo "${PACKAGE_VERSION:-$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)}"
}

# machine_of BINARY: x86_64 or aarch64, from the field e_machine of its ELF header.
machine_of() {
    case $(od --address-radix=n --format=x1 --skip-bytes=18 --read-bytes=2 "$1" | tr -d ' ') in
    3e00) echo x86_64 ;;
    b700) echo aarch64 ;;
    *)
        echo "$1 is no program for x86_64 or aarch64" >&2
        return 1
        ;;
    esac
}

# debian_architecture MACHINE: what Debian and container images call it.
debian_architecture() {
    case $1 in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    esac
}

# The same input gives the same files.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}

# same_times TREE: nothing in it is newer than the commit.
same_times() {
    find "$1" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# strip_program FROM TO: as Debian's own packages are; a release build still has its table of symbols.
strip_program() {
    local machine strip=strip
    machine=$(machine_of "$1")
    if [ "$machine" != "$(uname --machine)" ]; then
        strip=$machine-linux-gnu-strip
    fi
    install -D --mode=755 "$1" "$2"
    "$strip" --strip-unneeded --remove-section=.comment --remove-section=.note "$2"
}

# write_manual PROGRAM SHARE: the manual page of the program and completions for three shells. PROGRAM runs on
# this machine; its words are the same on all.
write_manual() {
    local program=$1 share=$2
    mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/vendor-completions" \
        "$share/fish/vendor_completions.d"
    "$program" man | gzip -9n >"$share/man/man1/mailroom.1.gz"
    "$program" completions bash >"$share/bash-completion/completions/mailroom"
    "$program" completions zsh >"$share/zsh/vendor-completions/_mailroom"
    "$program" completions fish >"$share/fish/vendor_completions.d/mailroom.fish"
}

# write_examples DOCUMENTS: configurations of other programs and templates for containers.
write_examples() {
    mkdir -p "$1/examples"
    install --mode=644 packaging/examples/* packaging/monitoring/* "$1/examples/"
}

# needed_glibc BINARY: the newest version of the C library that one of its symbols names.
needed_glibc() {
    readelf --wide --version-info "$1" | grep --only-matching 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' |
        sort --version-sort --unique | tail -n 1
}

# require_floor BINARY: fails where it needs a newer C library than is promised.
require_floor() {
    local needed
    needed=$(needed_glibc "$1")
    if [ -z "$needed" ] || [ "$(printf '%s\n' "$needed" "$GLIBC_FLOOR" | sort --version-sort | tail -n 1)" != "$GLIBC_FLOOR" ]; then
        echo "$1 needs glibc ${needed:-of no known version}; at most $GLIBC_FLOOR is promised" >&2
        return 1
    fi
    echo "$1 needs glibc $needed; $GLIBC_FLOOR is promised"
}

#!/bin/sh
# Installs Mailroom on Linux from a folder or an address with the files of a release, and removes it again.
#
#   sh install.sh [--from FOLDER|URL] [--prefix FOLDER] [--keyring FILE]
#   sh install.sh --uninstall [--prefix FOLDER] [--delete-data FOLDER]
#
#   --from         where SHA256SUMS and the archives are; the folder of this script if it is not said
#   --prefix       where to: /usr/local for root, ~/.local for everybody else
#   --keyring      the public keys (as gpgv reads them) by one of which SHA256SUMS has to be signed
#   --uninstall    removes what was installed there, and nothing else
#   --delete-data  with --uninstall: removes this data folder too, with all mail in it
#
# Nothing is changed before the archive is compared with SHA256SUMS and the program in it has run here.
set -eu

LIST=share/mailroom/installed.txt

main() {
    from='' prefix='' keyring='' uninstall='' data=''
    while [ $# -gt 0 ]; do
        case $1 in
        --from | --prefix | --keyring | --delete-data)
            [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a value."
            case $1 in
            --from) from=${2%/} ;;
            --prefix) prefix=${2%/} ;;
            --keyring) keyring=$2 ;;
            --delete-data) data=${2%/} ;;
            esac
            shift 2
            ;;
        --uninstall) uninstall=yes && shift ;;
        --help)
            usage
            return
            ;;
        *) fail "There is no option $1; --help names them." ;;
        esac
    done
    if [ -z "$prefix" ]; then
        if [ "$(id -u)" -eq 0 ]; then
            prefix=/usr/local
        else
            prefix=${HOME:?}/.local
        fi
    fi
    case $prefix in
    /*) ;;
    *) fail "--prefix has to be a full path, not $prefix." ;;
    esac
    if [ -n "$uninstall" ]; then
        remove_program
    elif [ -n "$data" ]; then
        fail "--delete-data goes with --uninstall; nothing was changed."
    else
        scratch=$(mktemp -d)
        trap 'rm -rf "$scratch"' EXIT
        trap 'exit 1' HUP INT TERM
        install_program
    fi
}

usage() {
    cat <<'USAGE'
Installs Mailroom on Linux, or removes it.
  sh install.sh [--from FOLDER|URL] [--prefix FOLDER] [--keyring FILE]
  sh install.sh --uninstall [--prefix FOLDER] [--delete-data FOLDER]
USAGE
}

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

install_program() {
    [ "$(uname -s)" = Linux ] || fail "there are programs for Linux alone; this is $(uname -s)."
    case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there are programs for x86_64 and aarch64; this is $(uname -m)." ;;
    esac
    find_release
    fetch SHA256SUMS
    check_signature
    archive=$(awk -v end="-linux-$machine.tar.gz" '
        NF == 2 && $2 ~ /^mailroom-[0-9A-Za-z._+~-]+$/ && substr($2, length($2) - length(end) + 1) == end { print $2 }
    ' "$scratch/SHA256SUMS")
    [ "$(echo "$archive" | wc -w)" -eq 1 ] || fail "SHA256SUMS should name one archive for $machine; nothing was changed."
    fetch "$archive"
    check_sum
    mkdir "$scratch/tree"
    tar -xzf "$scratch/$archive" -C "$scratch/tree"
    tree=$scratch/tree/${archive%-linux-*}
    said=$("$tree/bin/mailroom" --version 2>&1) ||
        fail "the program does not run here, and nothing was changed. It says: $said"
    place_files
    echo "Installed $said in $prefix: $(wc -l <"$prefix/$LIST") files, named in $prefix/$LIST."
    tell_path
    echo "Start it with: mailroom serve"
    echo "Remove it with: sh install.sh --uninstall --prefix $prefix"
}

# Where the files are: said, or beside this script.
find_release() {
    if [ -z "$from" ]; then
        from=$(dirname "$0")
        [ -f "$0" ] && [ -f "$from/SHA256SUMS" ] ||
            fail "say with --from where the release is: a folder, or an address that begins with https://."
    fi
    case $from in
    https://* | http://localhost[:/]* | http://127.0.0.1[:/]*) ;;
    http://*) [ -n "$keyring" ] ||
        fail "over http nobody proves who sent the files: use https, or --keyring with the keys of the release." ;;
    *) [ -f "$from/SHA256SUMS" ] || fail "there is no SHA256SUMS in $from." ;;
    esac
}

# fetch NAME: a file of the release, into the scratch folder.
fetch() {
    case $from in
    http://* | https://*)
        if command -v curl >/dev/null; then
            curl --fail --silent --show-error --location --output "$scratch/$1" "$from/$1"
        elif command -v wget >/dev/null; then
            wget --quiet --output-document="$scratch/$1" "$from/$1"
        else
            fail "curl or wget has to be installed."
        fi || fail "$from/$1 cannot be fetched; nothing was changed."
        ;;
    *) cp "$from/$1" "$scratch/$1" || fail "$from/$1 cannot be read; nothing was changed." ;;
    esac
}

check_signature() {
    [ -n "$keyring" ] || return 0
    [ -f "$keyring" ] || fail "there is no file $keyring; nothing was changed."
    command -v gpgv >/dev/null || fail "gpgv has to be installed for --keyring."
    # gpgv looks for a name without a slash in a folder of its own.
    case $keyring in
    /*) ;;
    *) keyring=./$keyring ;;
    esac
    fetch SHA256SUMS.asc
    gpgv --quiet --keyring "$keyring" "$scratch/SHA256SUMS.asc" "$scratch/SHA256SUMS" 2>"$scratch/gpgv" ||
        fail "SHA256SUMS is not signed by a key of $keyring; nothing was changed. gpgv says: $(cat "$scratch/gpgv")"
    echo "SHA256SUMS is signed by a key of $keyring."
}

check_sum() {
    wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$scratch/SHA256SUMS")
    if command -v sha256sum >/dev/null; then
        found=$(sha256sum <"$scratch/$archive")
    elif command -v openssl >/dev/null; then
        found=$(openssl dgst -sha256 -r <"$scratch/$archive")
    else
        fail "sha256sum or openssl has to be installed."
    fi
    [ "${found%% *}" = "$wanted" ] ||
        fail "$archive is not what SHA256SUMS says (${found%% *} instead of $wanted); nothing was changed."
    echo "$archive is what SHA256SUMS says."
}

# Files that somebody else put there are not written over; those of an earlier version go.
place_files() {
    (cd "$tree" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >"$scratch/new"
    echo "$LIST" >>"$scratch/new"
    if [ -f "$prefix/$LIST" ]; then
        cp "$prefix/$LIST" "$scratch/old"
    else
        : >"$scratch/old"
    fi
    while IFS= read -r file; do
        if { [ -e "$prefix/$file" ] || [ -L "$prefix/$file" ]; } && ! grep -Fqx "$file" "$scratch/old"; then
            fail "$prefix/$file is there and was not installed by this script; nothing was changed."
        fi
    done <"$scratch/new"
    # Whatever stops it now, the list names all files of both versions.
    mkdir -p "$prefix/${LIST%/*}"
    LC_ALL=C sort -u "$scratch/old" "$scratch/new" >"$scratch/both"
    cp "$scratch/both" "$prefix/$LIST"
    (cd "$tree" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) | while IFS= read -r file; do
        mkdir -p "$prefix/$(dirname "$file")"
        # A program that runs keeps its old file.
        cp "$tree/$file" "$prefix/$file.new"
        case $file in
        bin/*) chmod 755 "$prefix/$file.new" ;;
        *) chmod 644 "$prefix/$file.new" ;;
        esac
        mv -f "$prefix/$file.new" "$prefix/$file"
    done
    grep -Fvx -f "$scratch/new" "$scratch/old" >"$scratch/gone" || true
    remove_files "$scratch/gone"
    cp "$scratch/new" "$prefix/$LIST"
    chmod 644 "$prefix/$LIST"
}

tell_path() {
    first=$(command -v mailroom || true)
    case $first in
    "$prefix/bin/mailroom") ;;
    '') echo "$prefix/bin is not in PATH: add it, or call $prefix/bin/mailroom." ;;
    *) echo "There is another one, which comes first: $first." ;;
    esac
}

remove_program() {
    if [ -n "$data" ]; then
        check_data
    fi
    [ -f "$prefix/$LIST" ] || fail "nothing was installed in $prefix by this script; nothing was changed."
    remove_files "$prefix/$LIST"
    echo "Removed Mailroom from $prefix."
    if [ -n "$data" ]; then
        rm -rf "$data"
        echo "Removed the data in $data."
    else
        echo "Data folders were left as they are."
    fi
}

# It looks like a data folder, so that a slip of the hand deletes nothing else.
check_data() {
    case $data in
    /*) ;;
    *) fail "--delete-data has to be a full path, not $data; nothing was changed." ;;
    esac
    if [ -L "$data" ] || [ ! -f "$data/secret.key" ]; then
        fail "$data is no data folder of Mailroom (it has no secret.key); nothing was changed."
    fi
}

# remove_files LIST: the files that it names, and the folders that are empty then.
remove_files() {
    # The list itself is one of them.
    listed=$(cat "$1")
    echo "$listed" | while IFS= read -r file; do
        case $file in
        '' | /* | ../* | */../* | */..) continue ;;
        esac
        rm -f "$prefix/$file"
        folder=$(dirname "$file")
        while [ "$folder" != . ]; do
            case $folder in
            */mailroom | */mailroom/*) rmdir "$prefix/$folder" 2>/dev/null || break ;;
            *) break ;;
            esac
            folder=$(dirname "$folder")
        done
    done
}

main "$@"

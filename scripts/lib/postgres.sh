# shellcheck shell=bash
# A private PostgreSQL for tests. To be sourced.
#
# It listens on a socket in its own folder and nowhere else, keeps nothing safe from a power cut,
# and goes with the folder.

# start_postgres FOLDER: makes the folder, starts a server in it and sets MAILROOM_TEST_POSTGRES.
start_postgres() {
    postgres_folder=$1
    mkdir "$postgres_folder"
    if [ "$(id -u)" -eq 0 ]; then
        chown "$(postgres_user)" "$postgres_folder"
    fi
    as_postgres initdb --pgdata=data --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C --no-sync >"$postgres_folder/initdb.log"
    cat >>"$postgres_folder/data/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '$postgres_folder'
		max_connections = 1000
		autovacuum = off
		fsync = off
		full_page_writes = off
		wal_level = minimal
		max_wal_senders = 0
		max_wal_size = 256MB
	END
    if ! as_postgres pg_ctl --pgdata=data --log=server.log --wait --silent start; then
        cat "$postgres_folder/server.log" >&2
        return 1
    fi
    export MAILROOM_TEST_POSTGRES="postgres://postgres@${postgres_folder//\//%2F}/postgres"
}

stop_postgres() {
    if [ -n "${postgres_folder:-}" ] && [ -e "$postgres_folder/data/postmaster.pid" ]; then
        as_postgres pg_ctl --pgdata=data --mode=immediate --silent stop
    fi
}

# as_postgres PROGRAM ARGUMENT…: runs one of the server's programs inside its folder, and never as
# root, which PostgreSQL refuses.
as_postgres() (
    cd "$postgres_folder" || exit
    program=$(postgres_programs)/$1
    shift
    if [ "$(id -u)" -eq 0 ]; then
        exec runuser --user "$(postgres_user)" -- "$program" "$@"
    else
        exec "$program" "$@"
    fi
)

# postgres_programs: the folder of the newest server that is installed; fails when there is none.
postgres_programs() {
    local newest
    newest=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1)
    newest=${newest:-$(command -v initdb)} || return 1
    dirname "$newest"
}

postgres_user() {
    if id postgres >/dev/null 2>&1; then
        echo postgres
    else
        echo nobody
    fi
}

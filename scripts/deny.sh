#!/usr/bin/env bash
# Checks what the dependencies bring: licences, duplicates, sources and known vulnerabilities, as
# deny.toml states. Skipped without cargo-deny, which `make test` installs. The database of known
# vulnerabilities is fetched; a host without a network names a clone of it in ASSAY_ADVISORY_DB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# cargo-deny stores its database under this name, which it derives from the database's address.
name=advisory-db-3157b0e258782691
fetched=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/$name

if ! cargo deny --version >/dev/null 2>&1; then
    echo 'skipped: no cargo-deny: make test installs it'
    exit 0
fi
cargo deny check --hide-inclusion-graph bans licenses sources
if [ -n "${ASSAY_ADVISORY_DB:-}" ]; then
    if [ ! -d "$ASSAY_ADVISORY_DB/crates" ] || [ ! -e "$ASSAY_ADVISORY_DB/.git" ]; then
        echo "ASSAY_ADVISORY_DB=$ASSAY_ADVISORY_DB is no clone of https://github.com/RustSec/advisory-db" >&2
        exit 1
    fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    ln -s "$(realpath "$ASSAY_ADVISORY_DB")" "$work/$name"
    sed "s#^\[advisories\]\$#&\ndb-path = \"$work\"#" deny.toml >"$work/deny.toml"
    echo "advisories: from $ASSAY_ADVISORY_DB, of $(git -C "$ASSAY_ADVISORY_DB" log -1 --format=%cs)"
    cargo deny --offline --config "$work/deny.toml" check advisories
    exit 0
fi
if ! cargo deny fetch db; then
    if [ ! -d "$fetched" ]; then
        echo 'skipped: advisories: no database (offline)'
        exit 0
    fi
    echo 'advisories: offline, so the database that was fetched last is used'
fi
cargo deny --offline check advisories

#!/usr/bin/env bash
# Checks what the dependencies bring: licences, duplicates, sources and known vulnerabilities, as
# deny.toml states. Skipped without cargo-deny, which `make test` installs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo deny --version >/dev/null 2>&1; then
    echo 'skipped: no cargo-deny: make test installs it'
    exit 0
fi
cargo deny check --hide-inclusion-graph bans licenses sources
if ! cargo deny fetch db; then
    echo 'skipped: advisories: no database (offline)'
    exit 0
fi
exec cargo deny --offline check advisories

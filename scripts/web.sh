#!/usr/bin/env bash
# Bundles the script and the style sheet of the pages of `assay serve` into crates/tool/serve/web/dist, from
# packages of npm that its lock file names. Without npm, or without network, the program is built all the same:
# its pages then show drawings in place of charts. `web.sh test` also installs what tests of the pages need.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../crates/tool/serve/web"

log() { printf 'web: %s\n' "$*"; }

packages=(--omit=dev)
marker=node_modules/uplot
if [ "${1-}" = test ]; then
    packages=()
    marker=node_modules/puppeteer-core
fi
sources=(src build.mjs package.json package-lock.json)
if [ -s dist/app.js ] && [ -d "$marker" ] && [ -z "$(find "${sources[@]}" -newer dist/app.js -print -quit)" ]; then
    exit 0
fi
if ! command -v npm >/dev/null; then
    log "no npm here: pages show drawings in place of charts (apt install npm adds them)"
    exit 0
fi
if ! npm ci --silent --ignore-scripts --no-audit --no-fund "${packages[@]}" || ! npm run --silent build; then
    log "the script is not built: pages show drawings in place of charts"
fi

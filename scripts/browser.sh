#!/usr/bin/env bash
# Tests the pages of `assay serve` in Chromium: the script on pages made for it, then every page of a small archive in
# both sizes and schemes, without an error on the console and without a serious finding of axe. Skipped without
# Chromium or the packages of npm that scripts/web.sh installs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

web=$PWD/crates/tool/serve/web
assay=${CARGO_TARGET_DIR:-$PWD/target}/debug/assay
if ! command -v chromium >/dev/null; then
    echo "skipped: no chromium (apt install chromium)"
    exit 0
fi
if [ ! -d "$web/node_modules/puppeteer-core" ] || [ ! -s "$web/dist/app.js" ]; then
    echo "skipped: no packages of npm (scripts/web.sh test)"
    exit 0
fi
place=$(mktemp -d)
servers=()
end() {
    # The runs of a server end with it.
    [ "${#servers[@]}" = 0 ] || { kill "${servers[@]}" && wait "${servers[@]}"; } 2>/dev/null || true
    rm -rf "$place"
}
trap end EXIT
export XDG_CACHE_HOME=$place/cache
for file in pair held small; do
    "$assay" import "crates/tool/assay/tests/data/$file.assay" --results "$place/archive-results" >/dev/null
done
serve() { # NAME, OPTIONS...: prints its address into the file NAME
    "$assay" serve --listen 127.0.0.1:0 --results "$place/$1-results" --data-dir "$place/data" "${@:2}" \
        >"$place/$1" 2>"$place/$1.log" &
    servers+=($!)
    for _ in $(seq 100); do
        [ -s "$place/$1" ] || sleep 0.1
    done
}
serve archive
serve runs --allow-run
cd "$web"
export ASSAY_RUN_SITE
ASSAY_RUN_SITE=$(cat "$place/runs")
node --test --test-reporter=spec test/*.test.mjs
ASSAY_SITE=$(cat "$place/archive") node --test --test-reporter=spec test/every_page.test.mjs

#!/usr/bin/env bash
# Updates docs/report.png from the newest results of an experiment, quickstart unless one is named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for tool in chromium pngquant; do
    command -v "$tool" >/dev/null || { echo "picture: install $tool" >&2; exit 1; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
./target/release/assay report "${1:-quickstart}" --output "$scratch/page.html"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,1150 \
    --screenshot="$scratch/page.png" "file://$scratch/page.html" 2>/dev/null
pngquant --force --quality 60-90 --output docs/report.png "$scratch/page.png"
ls -l docs/report.png

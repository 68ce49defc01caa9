#!/usr/bin/env bash
# Updates docs/serve.png and docs/serve-latency.png, which show the newest results of an experiment in a browser:
# quickstart unless one is named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for tool in chromium pngquant; do
    command -v "$tool" >/dev/null || { echo "picture: install $tool" >&2; exit 1; }
done
scratch=$(mktemp -d)
./target/release/assay serve --listen 127.0.0.1:0 >"$scratch/address" 2>/dev/null &
server=$!
trap 'kill $server; rm -rf "$scratch"' EXIT
until [ -s "$scratch/address" ]; do sleep 0.1; done
directory=$(find "results/${1:-quickstart}" -mindepth 1 -maxdepth 1 -type d | sort | tail -1)
address=$(cat "$scratch/address")e/${directory#results/}/
for part in "" latency; do
    name=serve${part:+-$part}
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,1000 --timeout=20000 \
        --virtual-time-budget=5000 --screenshot="$scratch/$name.png" "$address${part:+$part/}" 2>/dev/null
    pngquant --force --quality 60-90 --output "docs/$name.png" "$scratch/$name.png"
    ls -l "docs/$name.png"
done

#!/usr/bin/env bash
# Renews docs/reference and builds docs/ as a searchable site in target/book.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ASSAY_WRITE_DOCS=1 cargo test --quiet --package assay --test reference
command -v mdbook >/dev/null || cargo install --quiet mdbook
rm -rf target/book
mkdir -p target/book/src
cp -r docs/. target/book/src
# The index of the repository is the table of contents of the site.
sed -n 's/^## /# /; 1!p' docs/README.md | sed '1i # Summary\n\n[Documentation](README.md)' >target/book/src/SUMMARY.md
for page in reference decisions reproduced; do
    sed -n "s/^- \[\(.*\)\](\([^)]*\)).*/  - [\1]($page\/\2)/p" "docs/$page/README.md" >target/book/pages
    sed -i "/($page\/README.md)/r target/book/pages" target/book/src/SUMMARY.md
done
printf '[book]\ntitle = "Assay"\nsrc = "src"\n' >target/book/book.toml
mdbook build target/book
echo "docs: target/book/book/index.html"

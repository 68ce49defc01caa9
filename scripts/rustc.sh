#!/usr/bin/env bash
# The compiler of our crates in scripts/suite.py: clippy compiles a crate, then rustdoc checks its
# documentation with the same dependencies, unless it is a test. Both deny warnings, clippy by CLIPPY_ARGS.
set -euo pipefail

case " $* " in
    # Only checked: `cargo bench` compiles benchmarks in another profile.
    */benches/*) exec clippy-driver "${@/#--emit=*/--emit=dep-info,metadata}" ;;
esac
clippy-driver "$@"

options=()
while [ $# -gt 1 ]; do
    shift
    case $1 in
        - | -vV | --test) exit 0 ;;
        # As cargo documents programs.
        --crate-type)
            [ "$2" != bin ] || options+=(--document-private-items -Arustdoc::private_intra_doc_links)
            ;;&
        --crate-name | --crate-type | --cfg | --check-cfg | --extern | -L) options+=("$1" "$2") && shift ;;
        --edition=* | --error-format=* | --json=* | *.rs) options+=("$1") ;;
    esac
done
# Checking without writing pages is an option that rustdoc calls unstable.
RUSTC_BOOTSTRAP=1 exec rustdoc -Zunstable-options --check -Dwarnings "${options[@]}"

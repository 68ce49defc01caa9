#!/usr/bin/env bash
# Installs the missing packages for building and running Assay. Uses apt only when something is
# missing; works without network when nothing is. `setup.sh test` adds Maven, cargo-deny, and the
# engines and allocators that `make test` tries, where the distribution has them; `setup.sh models`
# adds what verifies the models, `setup.sh device` what `assay device` measures with, `setup.sh dist`
# what builds and tests packages, and `setup.sh peers` what `make bench-peers` compares with.
set -euo pipefail

log() { printf 'setup: %s\n' "$*"; }
fail() {
    log "$*" >&2
    exit 1
}

packages=()
lacks() { # WHAT, WHY, PACKAGES...
    log "missing: $1 ($2)"
    packages+=("${@:3}")
}
# Packages whose absence only skips tests.
optional=()
would_try() { # LIBRARY, PACKAGE
    if ! has_library "$1"; then
        log "missing: $1 (tests and the quickstart try it, and leave it out without)"
        optional+=("$2")
    fi
}
# Reads all output of ldconfig, which must not die of a closed pipe.
has_library() { PATH=$PATH:/sbin ldconfig -p 2>/dev/null | grep -F "$1 " >/dev/null; }

# Installs cargo-deny, unoptimised: 95 s of CPU instead of minutes, and its checks take a second.
install_deny() {
    ! cargo deny --version >/dev/null 2>&1 || return 0
    log "installing cargo-deny (it checks the licences and advisories of dependencies), once"
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --version 0.20.2 cargo-deny ||
        log "cargo-deny cannot be installed; going on, its checks are skipped"
}

# Programs that read what Assay writes for them, in a Python environment of the tests. One of them has
# the schemas of Kubernetes.
install_python() {
    local venv=${XDG_CACHE_HOME:-$HOME/.cache}/assay/test-python
    [ ! -e "$venv/complete" ] || return 0
    log "installing DuckDB, pandas, Polars and kubernetes-validate in $venv for tests, once"
    if python3 -m venv "$venv" &&
        "$venv/bin/pip" install --quiet duckdb pandas polars pyarrow prometheus_client \
            opentelemetry-proto kubernetes-validate==1.37.0; then
        touch "$venv/complete"
    else
        log "they cannot be installed; going on, their tests are skipped"
    fi
}

# No installed package starts a daemon: Slurm's, munged and sshd would listen beyond loopback. Debian's
# invoke-rc.d obeys this file; one that is there (a container's) stays as it is.
policy=/usr/sbin/policy-rc.d
forbid_daemons() {
    [ ! -e "$policy" ] || return 0
    policy_made=true
    printf '#!/bin/sh\n# Of scripts/setup.sh of Assay, for the time of an installation.\nexit 101\n' |
        "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
}
clean_up() {
    rm -rf "$scratch"
    [ -z "${policy_made-}" ] || "${as_root[@]}" rm -f "$policy"
}

scratch=$(mktemp -d)
trap clean_up EXIT
compiles() {
    printf '#include <stdio.h>\nint main() { return puts("") < 0; }\n' >"$scratch/probe.c"
    cc -o "$scratch/probe" "$scratch/probe.c" 2>/dev/null
}

command -v cargo >/dev/null || fail "cargo is missing: install Rust 1.90 or newer with rustup"
compiles ||
    lacks "a C compiler named cc" "it links Rust programs and compiles SQLite and LMDB" \
        gcc libc6-dev
command -v git >/dev/null || lacks "git" "cargo tidy lists the sources with it" git
# The quickstart leaves out what is not there.
would_try libleveldb.so.1d libleveldb1d
would_try librocksdb.so librocksdb-dev
if [ "${1-}" = test ]; then
    if ! command -v mvn >/dev/null || ! command -v java >/dev/null; then
        lacks "a JDK and Maven" "they obtain RocksDB's released libraries" maven default-jdk-headless
    fi
    # A released RocksDB library brings everything but the C++ run-time library.
    has_library libstdc++.so.6 ||
        lacks "libstdc++.so.6" "RocksDB's released libraries need it" libstdc++6
    command -v g++ >/dev/null ||
        lacks "g++" "tests compile engines with it" g++
    # MySQL's servers, which tests start, need these; other missing libraries are reported by name.
    would_try libaio.so.1 libaio1
    would_try libzstd.so.1 libzstd1
    would_try libnuma.so.1 libnuma1
    # A server that root starts runs as another user.
    command -v setpriv >/dev/null || lacks "setpriv" "it starts servers as another user" util-linux
    # Networks of servers are cut with ip.
    PATH=$PATH:/sbin command -v ip >/dev/null || optional+=(iproute2)
    would_try libwiredtiger.so.0 libwiredtiger0
    [ -f /usr/include/wiredtiger.h ] || optional+=(libwiredtiger-dev)
    command -v iostat >/dev/null || optional+=(sysstat)
    command -v perf >/dev/null || optional+=(linux-perf)
    would_try liblmdb.so.0 liblmdb0
    would_try libsqlite3.so.0 libsqlite3-0
    would_try libjemalloc.so.2 libjemalloc2
    would_try libtcmalloc_minimal.so.4 libtcmalloc-minimal4
    would_try libmimalloc.so.2 libmimalloc2.0
    # Storage is measured with fio, in tests on loop devices with these file systems.
    command -v fio >/dev/null || optional+=(fio)
    python3 -c 'import ensurepip' 2>/dev/null || optional+=(python3-venv)
    command -v mkfs.xfs >/dev/null || optional+=(xfsprogs)
    command -v mkfs.btrfs >/dev/null || optional+=(btrfs-progs)
    # Blocks on other machines are tested with a Slurm and ssh servers of each test.
    for pair in slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client munged:munge sshd:openssh-server; do
        PATH=$PATH:/usr/sbin command -v "${pair%:*}" >/dev/null || optional+=("${pair#*:}")
    done
    install_deny
fi
if [[ "${1-}" =~ ^(test|dist)$ ]]; then
    # Without npm the pages of `assay serve` have drawings in place of charts.
    command -v npm >/dev/null || optional+=(npm)
fi
if [ "${1-}" = test ]; then
    command -v chromium >/dev/null || optional+=(chromium)
fi
if [[ "${1-}" =~ ^(test|models)$ ]] && ! command -v spin >/dev/null; then
    log "missing: spin (it verifies the models, which is skipped without)"
    optional+=(spin)
fi
if [[ "${1-}" =~ ^(test|dist)$ ]]; then
    # Packages are built and installed without a daemon; the ARM program runs under qemu.
    for program in debootstrap mmdebstrap buildah; do
        command -v "$program" >/dev/null || optional+=("$program")
    done
fi
if [ "${1-}" = dist ]; then
    for program in dpkg-deb x86_64-linux-gnu-objcopy aarch64-linux-gnu-objcopy python3; do
        command -v "$program" >/dev/null ||
            lacks "$program" "it makes packages" dpkg binutils-x86-64-linux-gnu binutils-aarch64-linux-gnu python3
    done
    python3 -m venv --help >/dev/null 2>&1 || lacks "venv" "maturin and zig are installed by it" python3-venv
    command -v qemu-aarch64-static >/dev/null || optional+=(qemu-user-static)
    command -v mvn >/dev/null || optional+=(maven)
    install_deny
fi
if [ "${1-}" = device ]; then
    command -v fio >/dev/null || lacks "fio" "assay device measures storage with it" fio
fi
if [ "${1-}" = peers ]; then
    command -v db_bench >/dev/null ||
        lacks "db_bench" "RocksDB's own benchmark, the peer of ours" rocksdb-tools
    command -v sysbench >/dev/null ||
        lacks "sysbench" "a peer that offers a rate, and MySQL's usual benchmark" sysbench
    command -v pgbench >/dev/null || ls /usr/lib/postgresql/*/bin/pgbench >/dev/null 2>&1 ||
        lacks "pgbench" "Postgres' own benchmark; its package may start a server" postgresql
    command -v valgrind >/dev/null || lacks "valgrind" "it counts instructions" valgrind
fi
# Once apt has installed what it needs, too.
[ "${1-}" != test ] || trap 'install_python; rm -rf "$scratch"' EXIT
needed=${#packages[@]}
[ "$((needed + ${#optional[@]}))" -gt 0 ] || exit 0

# Ends with an error, or without one when nothing but tests would miss what is missing.
give_up() {
    [ "$needed" -eq 0 ] || fail "$*"
    log "$*; going on, tests of what is missing are skipped"
    exit 0
}
command -v apt-get >/dev/null ||
    give_up "no apt-get here: install what is named above with your system's package manager"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
        give_up "run as root: apt-get install ${packages[*]} ${optional[*]}"
    as_root=(sudo)
fi
"${as_root[@]}" apt-get update --quiet ||
    log "the list of packages is not fresh; trying with the one that is here"
for package in "${optional[@]}"; do
    if apt-cache show "$package" >/dev/null 2>&1; then
        packages+=("$package")
    else
        log "no package $package here: its tests are skipped"
    fi
done
[ "${#packages[@]}" -gt 0 ] || exit 0
log "installing with apt-get: ${packages[*]}"
forbid_daemons
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${packages[@]}" ||
    give_up "apt-get failed: see above, then run it by hand: apt-get install ${packages[*]}"

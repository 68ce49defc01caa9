# The commands of this repository. Each installs what is missing before it begins.

.PHONY: run test dist release campaign fuzz models bench bench-peers docs validation reproduce setup

# Compare real engines on this machine: build, run the quickstart, print the answer and the report.
run: setup
	@./scripts/web.sh
	cargo build --release --package assay
	./target/release/assay run quickstart --report
	@echo "Browser  ./target/release/assay serve"

# The definition of done, every test and every check of the sources: scripts/suite.py lints and builds the
# tests, runs them, and prints which were skipped and why. Tests that need a RocksDB release or a server
# (postgres@15.10, mysql@8.0.31 and mariadb@10.11: 80 MB) obtain it through Maven or apt and keep it in
# ~/.cache/assay; other engines and allocators are installed where the distribution has them.
test:
	@./scripts/setup.sh test
	./scripts/suite.py

# Builds the packages of a release for x86-64 and ARM in target/dist, and tests each where its users would
# install it: half an hour. packaging/build.py and packaging/test.py do one of the two.
dist:
	@./scripts/setup.sh dist
	./packaging/build.py
	./packaging/test.py

# Checks that this commit can be released, and that two clones give the same packages; publishes nothing.
release:
	@./scripts/setup.sh dist
	./packaging/release.py

# Verifies the models of concurrent algorithms in models/ with SPIN, and that each seeded bug is found.
models:
	@./scripts/setup.sh models
	./scripts/models.sh

# Feeds mutated files to every reader of untrusted files; ASSAY_CAMPAIGN=long takes five minutes each.
fuzz:
	./scripts/fuzz.sh

# Every campaign at full length, hours: a fault at each system call on the archive, a thousand kills, a
# thousand power cuts, each byte of an archive changed, the rights, passwords and counted statements of every server, each command in each odd setting and on
# each hostile file, all simulated series, five minutes of each fuzz target.
# `make test` has a sample of each. A failure prints how to repeat it alone.
campaign:
	@./scripts/setup.sh test
	ASSAY_CAMPAIGN=long cargo test --workspace --test campaigns -- --nocapture
	ASSAY_CAMPAIGN=long cargo test --package stats --tests
	ASSAY_CAMPAIGN=long cargo test --package analysis --lib
	ASSAY_CAMPAIGN=long cargo test --package assay --test promises -- --nocapture \
	    children_get every_changed nothing_ends order_workload servers_count small_files
	ASSAY_CAMPAIGN=long ./scripts/fuzz.sh

# What our own code costs.
bench: setup
	cargo bench --workspace --bench '*'

# What our clients cost next to db_bench, pgbench and sysbench, and how late rate-limited peers and ours
# are; the peers are installed where apt has them. `./target/release/bench-peers --sql`
# prints the SQL clients alone, `--lag` the lateness.
bench-peers: setup
	-@./scripts/setup.sh peers
	cargo build --release --package assay
	cargo run --release --package bench-peers

# Renews docs/reference and builds docs/ as a site with search in target/book; installs mdBook if absent.
docs: setup
	./scripts/docs.sh

# Renews docs/validation.md and the pages of histories, loads, machines and crashes: two hours, on a quiet machine.
validation: setup
	./scripts/validation.sh
	./scripts/crashes.py

# Runs every shipped experiment whose builds are here at size minutes, unattended, hours in all, on a quiet
# machine, and renews docs/reproduced/; started again, it goes on. SIZE=night for another size.
reproduce: setup
	./scripts/reproduce.sh

# What a fresh machine lacks.
setup:
	@./scripts/setup.sh

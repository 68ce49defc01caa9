//! Every command has help with examples and shell completions.

use insta::assert_snapshot;

use crate::workspace::Workspace;

/// Returns the commands that `assay --help` lists, without `help`.
fn commands() -> Vec<String> {
    let all = help(&[]);
    let listed = all.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.map_while(|line| line.strip_prefix("  ")?.split(' ').next());
    listed.filter(|name| !["", "help"].contains(name)).map(str::to_owned).collect()
}

/// Returns the help of the program or of a command, 100 columns wide.
fn help(command: &[&str]) -> String {
    let workspace = Workspace::new();
    let output = workspace.assay(&[command, &["--help"]].concat());
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    output.out
}

#[test]
fn commands_are_listed_in_workflow_order() {
    assert_snapshot!(help(&[]), @"
    Measures storage engines and SQL servers on this machine, and tests how far to trust the result

    Usage: assay [OPTIONS] <COMMAND>

    Commands:
      doctor       List settings and load of this machine that can spoil a benchmark, with remedies;
                   change nothing
      plan         Show the runs of an experiment in order, with machine time and disk space; run
                   nothing
      run          Run an experiment file, or steps against given engines
      list         List experiments and their runs
      show         Show one run, or every run of an experiment, step by step
      compare      Compare the variants of an experiment with its base case
      explain      Explain the difference between two variants: time, changed metrics and limiting
                   resources
      flame        Show in which functions the CPU of a step goes, as a flame graph or for other viewers
      lint         Check a plan, a run or a comparison for mistakes
      history      Find changes over many experiments, or in an imported file
      report       Write the HTML report of an experiment, or a Markdown post with pictures
      serve        Show the archive, each experiment and runs in progress in a browser
      site         Write the pages of the archive as files for any web server
      verify       Check stored files against their checksums, and records against their intervals
      export       Write an experiment to one file that other commands can read
      export-job   Print a job for Slurm or Kubernetes that runs an experiment on several machines
      import       Add an experiment from one file to the archive
      archive      Write the archive as Parquet files, or join archives
      rerun        Run the experiment of a file here, and test which findings are reproduced
      snapshot     List, show, check or remove the saved databases from which runs begin
      micro        Measure checksums and compression of single blocks
      device       Measure storage with fio: throughput and response time by jobs and access
      durability   Measure what engines lose of their acknowledged writes in simulated crashes
      workload     List workloads, or show the application of SQL servers
      engine       List, get, add, build, test, remove or show engine builds
      completions  Print the completions of a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Directories:
          --results <DIR>    Directory of the archive [default: results]
          --data-dir <DIR>   Directory for the data of running engines [default: assay-data]
          --cache-dir <DIR>  Directory of fetched engine builds [default: ~/.cache/assay]

    Examples:
      assay run quickstart --report                      compare embedded engines, write the report
      assay run readrandom --engine rocksdb@9.10.0 --engine rocksdb@11.8.1 --rows 1M --duration 10s
      assay compare quickstart                           the newest results of that name
      assay engine get rocksdb@9.10.0                    obtain an engine build
    ");
}

#[test]
fn every_command_is_listed_and_has_examples() {
    let commands = commands();
    assert!(commands.len() >= 20, "{commands:?}");
    for command in &commands {
        let text = help(&[command.as_str()]);
        let example = format!("  assay {command}");
        let examples = text.split_once("Example").map(|(_, examples)| examples);
        let has_one = examples.is_some_and(|text| text.contains(example.trim_start()));
        assert!(has_one, "{command}: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn plan_and_run_have_the_same_overrides() {
    let own = |text: &str| text.split("Overrides of the file:").nth(1).map(str::to_owned);
    let (plan, run) = (help(&["plan"]), help(&["run"]));
    let overrides =
        |text: &str| own(text).and_then(|own| own.split("\n\n").next().map(str::to_owned));
    assert!(overrides(&plan).is_some() && overrides(&plan) == overrides(&run), "{plan}{run}");
}

/// Returns the help of `run`: what `plan` takes too, and the rest.
fn run_in_two() -> (String, String) {
    let text = help(&["run"]);
    let at = text.find("Run control:").expect("options of its own");
    (text[..at].to_owned(), text[at..].to_owned())
}

#[test]
fn run_help_shows_arguments_and_overrides() {
    let (overrides, _) = run_in_two();
    assert_snapshot!(overrides, @"
    Run an experiment file, or steps against given engines

    Usage: assay run [OPTIONS] [FILE|NAME|STEP]...

    Arguments:
      [FILE|NAME|STEP]...  Experiment (file or shipped name), or steps such as `fillseq readrandom`

    Options:
          --engine <BUILD>         Engine to run the steps against, NAME or NAME@VERSION; repeat to
                                   compare
          --engine-profile <NAME>  Profile, for those engines of --engine that it is written for
          --option <NAME=VALUE>    Engine option, under the engine's own name, for all engines of
                                   --engine; repeat for more
          --size <NAME>            Size of the file, [size.NAME]; its settings replace the file's
      -h, --help                   Print help

    Overrides of the file:
          --rows <COUNT>             Rows of the key space, such as 200k or 4M
          --key-bytes <SIZE>         Size of a key, in bytes
          --value-bytes <SIZE>       Size of a value, in bytes or as 4KiB
          --compressible-to <SHARE>  Compressed size of a value as a share, such as 0.5
          --duration <SPAN>          Length of the steps that end by duration, such as 10s
          --warmup <SPAN>            Unmeasured warm-up of these steps
          --clients <LEVELS>         Client threads: levels such as 1,2,4; `sweep` for levels from 1 to
                                     4 times the CPUs; `adaptive` to find the number with the highest
                                     throughput
          --raw <DEVICE>             Unused block device that an experiment on storage only reads
          --file-size <SIZE>         Size of the file of an experiment on storage
          --rate <RATE>              Offered rate of an open loop, such as 50k/s, in steps that end by
                                     duration
          --arrivals <NAME>          Arrival process of the rate: poisson or constant
          --pacing <NAME>            How a free client waits for an arrival: auto, spin or hybrid
          --sla <LIMIT>              Response-time limit, such as 'p99.9 < 2ms': tests the --rate, or
                                     searches for the highest rate within the limit
          --load <WHICH>             Runs that share a load: fresh (none, each run loads its data),
                                     per-block or per-variant
          --pipeline <DEPTH>         Operations that each client keeps in flight, such as 16; for SQL
                                     servers, in steps that end by duration
          --runs-per-load <N>        Repetitions that share a load, with --load per-variant; default:
                                     all
          --repetitions <N>          Repetitions of every cell
          --distribution <NAME>      Key distribution, such as uniform, zipf:0.99 or hotspot:64.512
          --range-rows <N>           Rows of a range read
          --batch-keys <N>           Keys of a multi_get
          --field-bytes <SIZE>       Bytes of a value that are read, replaced or appended, at least 8
          --writer-rate <SIZE/s>     Rate limit of the background writer, such as 2MiB/s
          --settle-cap <SPAN>        Longest wait of a settle step until the engine is idle
          --memory <SIZE>            Memory cap of the worker, such as 2GiB
          --page-cache <STATE>       Page cache when runs that share a load start to measure: warm or
                                     dropped
          --placement <NAME>         CPUs of the client and its server: free, same-cpu or split
          --workload <NAME>          Workload preset that derives sizes from the machine (byrx, byos,
                                     iobuf or iodir), or application of SQL servers: ibench-2023,
                                     ibench-current, sysbench, or the path of your file
          --profile                  Take CPU profiles of the measured steps, with Linux perf
          --seed <N>                 Seed of all random numbers
          --base <VARIANT>           Base case of the relative tables
          --margin <PERCENT>         Smallest difference that matters, such as 2%
          --control                  Run the base a second time under another name; a difference between
                                     the two is noise
          --durability <CLASS>       Durability class of every write: none, os (survives a process
                                     crash) or sync
          --cache <SIZE>             Size of the engine's cache, such as 1GiB
          --direct-io                Bypass the page cache in reads and background writes
          --compression <NAME>       Block compression: none, lz4 or zstd
          --background-jobs <N>      Background threads that the engine may use
          --allocator <NAME>         Allocator that serves malloc: system, jemalloc, tcmalloc or
                                     mimalloc
          --parameter <NAME=VALUE>   Parameter of the application, such as tables=8; repeat for more
          --waive <CODE=REASON>      Set a rule aside, such as 'A001=durability is the question'; repeat
                                     for more
    ");
}

#[test]
fn run_help_shows_control_options_examples_and_rates() {
    let (_, rest) = run_in_two();
    assert_snapshot!(rest, @"
    Run control:
          --resume <EXPERIMENT>    Complete an experiment: name (its newest), identifier or directory
          --report                 Write the HTML report when done
          --watchdog <SPAN>        Longest time without a finished operation before an engine counts as
                                   hung [default: 120s]
          --disk-floor <SIZE>      Disk space that must stay free [default: 2GiB]
          --snapshot-limit <SIZE>  Largest space for saved databases [default: half of the free space]
          --trust                  Run an experiment from someone else although it names paths,
                                   libraries, commands, hosts or SQL

    Precision of the result:
          --until <PERCENT>      Half the width of every 95 % interval, such as 2%. A pilot estimates
                                 how many repetitions are needed, and the run then makes them
          --budget <SPAN>        Machine time that --until may take, including the pilot
          --max-repetitions <N>  Repetitions that --until may run, including the pilot [default: 100]

    Other machines:
          --on <TARGET>         Run each block on one of several machines: slurm, or a file of hosts
          --constraint <CLASS>  Run only on machines of this class: a constraint of Slurm
          --machines <N>        Largest number of machines at the same time [default: one for each
                                block]
          --stream              Send blocks through srun: the machines of Slurm share no directory with
                                this host

    Directories:
          --results <DIR>    Directory of the archive [default: results]
          --data-dir <DIR>   Directory for the data of running engines [default: assay-data]
          --cache-dir <DIR>  Directory of fetched engine builds [default: ~/.cache/assay]

    Examples:
      assay run quickstart --report
      assay run readrandom --engine rocksdb@9.10.0 --engine rocksdb@11.8.1 --rows 1M --duration 10s
      assay run fillseq readwhilewriting --engine lmdb --rows 200k --clients 1,2 --repetitions 3
      assay run readwhilewriting --engine rocksdb@9.10.0 --rows 1M --rate 50k/s
      assay run readwhilewriting --engine rocksdb@9.10.0 --rows 1M --sla 'p99.9 < 2ms'
      assay run readrandom --engine rocksdb@9.10.0 --rows 1M --clients sweep --repetitions 3
      assay run quickstart --until 2% --budget 2h
      assay run quickstart --on slurm --machines 4  each block on one of several machines
      assay run --resume quickstart                 completes an interrupted experiment
      assay run --resume quick-readrandom --repetitions 3       adds runs to one run of each cell

    If this account did not begin the experiment on this host, --resume prints what the experiment can
    reach beyond its data, and needs --trust or a yes on the terminal. assay rerun does the same.

    Exit code: 0 if all runs are complete, 1 on an error or with incomplete runs, 3 if the experiment
    measured or decided nothing, 4 if a run failed a check.

    Rates:
      50k/s                                  operations per second over all clients
      'ramp 10k/s..100k/s over 60s'          linear; the last rate continues
      'steps 10k/s 20k/s 40k/s every 10s'    in sequence; the last rate continues
      'sine 50k/s +-20k/s every 60s'         a wave
      'file rates.csv'                       lines of t,rate: seconds, operations per second
    ");
}

#[test]
fn list_and_show_help_is_complete() {
    assert_snapshot!(help(&["list"]), @"
    List experiments and their runs

    Usage: assay list [OPTIONS] [EXPERIMENT]

    Arguments:
      [EXPERIMENT]  Experiment (name, identifier or directory) whose runs to list

    Options:
          --format <FORMAT>  Output format [default: text] [possible values: text, json]
      -h, --help             Print help

    Directories:
          --results <DIR>    Directory of the archive [default: results]
          --data-dir <DIR>   Directory for the data of running engines [default: assay-data]
          --cache-dir <DIR>  Directory of fetched engine builds [default: ~/.cache/assay]

    Examples:
      assay list                  every experiment
      assay list quickstart       the runs of the newest experiment of that name
      assay list --format json    the same for programs, here and with an experiment
    ");
    assert_snapshot!(help(&["show"]), @"
    Show one run, or every run of an experiment, step by step

    Usage: assay show [OPTIONS] <EXPERIMENT> [RUN]

    Arguments:
      <EXPERIMENT>  Experiment: name (its newest), identifier or directory
      [RUN]         Run, as listed by `assay list EXPERIMENT` [default: every run]

    Options:
          --timeline <STEP>  Show this step second by second, with the background work in its stalls
          --format <FORMAT>  Output format; csv and tsv only with --timeline [default: text] [possible
                             values: text, markdown, csv, tsv, json]
          --whole            Measure whole steps, without trimming the warm-up
      -h, --help             Print help

    Directories:
          --results <DIR>    Directory of the archive [default: results]
          --data-dir <DIR>   Directory for the data of running engines [default: assay-data]
          --cache-dir <DIR>  Directory of fetched engine builds [default: ~/.cache/assay]

    Examples:
      assay show quickstart                      every run of the newest quickstart
      assay show quickstart lmdb.c1.r2           one of its runs
      assay show quickstart lmdb.c1.r2 --timeline readrandom     one of its steps, second by second
      assay show quickstart --format json        every figure of every run, for programs
    ");
}

#[test]
fn compare_and_report_help_is_complete() {
    assert_snapshot!(help(&["compare"]), @"
    Compare the variants of an experiment with its base case

    Usage: assay compare [OPTIONS] <EXPERIMENT|RUN>...

    Arguments:
      <EXPERIMENT|RUN>...  Experiments (name, identifier or directory) or runs (EXPERIMENT/RUN); several
                           are joined into one comparison

    Options:
          --base <VARIANT>   Base variant, to which the others are relative [default: the experiment's
                             base]
          --metric <NAME>    Print only this metric, in every step, with its verdicts
          --rum              Print what each variant pays for reads, writes, space and cache. Several
                             experiments are sizes of one question and are compared separately
          --lines <REPORT>   Print one line per variant and step, with the columns of a report: ibench,
                             rocksdb or iostat. Values relative to the base come first
          --costs            Print the cost tables too
          --across <FACTOR>  Compare hosts instead of variants [possible values: hosts]
          --format <FORMAT>  Output format [default: text] [possible values: text, markdown, csv, tsv,
                             json]
          --whole            Measure whole steps, without trimming the warm-up
      -h, --help             Print help

    Directories:
          --results <DIR>    Directory of the archive [default: results]
          --data-dir <DIR>   Directory for the data of running engines [default: assay-data]
          --cache-dir <DIR>  Directory of fetched engine builds [default: ~/.cache/assay]

    Examples:
      assay compare quickstart                          against the experiment's own base case
      assay compare quickstart --base lmdb --costs      another base, with CPU, IO and space
      assay compare quickstart --metric cpu_us_per_op   one metric in every step, with its verdicts
      assay compare docs-1k docs-4k --rum               reads, writes, space and cache, size by size
      assay compare quickstart/lmdb.c1.r1 quickstart/redb.c1.r1   two runs only
      assay compare ibench-small-server --lines ibench  a line per variant and step, relative first
      assay compare quickstart --format csv > all.csv   every metric, for a spreadsheet
      assay compare quickstart --format json            everything, for programs
      assay compare 20261120T220502Z-3e7d quickstart --across hosts   two machines, side by side

    Exit code: 0 with results, 1 on an error, 3 if the experiment measured or decided nothing, 4 if a
    run failed a check.
    ");
    assert_snapshot!(help(&["report"]), @"
    Write the HTML report of an experiment, or a Markdown post with pictures

    Usage: assay report [OPTIONS] <EXPERIMENT>...

    Arguments:
      <EXPERIMENT>...  Experiment: name (its newest), identifier or directory; several with --across and
                       --reproduced

    Options:
      -o, --output <FILE>     File to write the page to [default: report.html of the experiment]
          --markdown <DIR>    Write a Markdown post with SVG pictures into this directory instead of the
                              page
          --across <FACTOR>   Show hosts instead of variants [possible values: hosts]
          --reproduced <DIR>  Write the published findings of the experiments, next to the figures here,
                              as Markdown pages into this directory. Pages of other experiments stay
          --whole             Measure whole steps, without trimming the warm-up
      -h, --help              Print help

    Directories:
          --results <DIR>    Directory of the archive [default: results]
          --data-dir <DIR>   Directory for the data of running engines [default: assay-data]
          --cache-dir <DIR>  Directory of fetched engine builds [default: ~/.cache/assay]

    Examples:
      assay report quickstart                       writes report.html to the results
      assay report quickstart --markdown post/      writes post/report.md with its pictures
      assay report rocksdb-releases open-loop --reproduced pages/   published findings, a row each
    ");
}

#[test]
fn engine_help_is_complete() {
    assert_snapshot!(help(&["engine"]), @"
    List, get, add, build, test, remove or show engine builds

    Usage: assay engine [OPTIONS] <COMMAND>

    Commands:
      list    List engines, cached builds and known releases
      get     Obtain a build and store it in the cache
      add     Add your own library, or your own server installation
      build   Compile a release with a compiler and flags of your choice
      test    Run the conformance battery on a build. Each check runs in a separate process
      remove  Remove a build from the cache
      show    Show version, origin and capabilities of a build
      help    Print this message or the help of the given subcommand(s)

    Options:
      -h, --help  Print help

    Directories:
          --results <DIR>    Directory of the archive [default: results]
          --data-dir <DIR>   Directory for the data of running engines [default: assay-data]
          --cache-dir <DIR>  Directory of fetched engine builds [default: ~/.cache/assay]

    Examples:
      assay engine list                            engines, cached builds and known releases
      assay engine get rocksdb@9.10.0              the official artifact, through Maven
      assay engine get rocksdb@system              the distribution's library
      assay engine get postgres@15.10              a server with all its files
      assay engine add rocksdb@9.10.0-mine ./librocksdb.so
      assay engine add postgres@mine /usr/lib/postgresql/15
      assay engine add splinterdb build/release/lib/libsplinterdb.so --headers include
      assay engine add sorted@1 ./libsorted.so     your engine, behind assay_engine.h
      assay engine test sorted@1                   the conformance battery
      assay engine build rocksdb@10.4.2 --cflags '-O3 -march=native'
      assay engine show rocksdb@9.10.0             version, origin and capabilities
      assay engine list --format json              for programs; show too
    ");
    assert_snapshot!(help(&["engine", "add"]), @"
    Add your own library, or your own server installation

    Usage: assay engine add [OPTIONS] <BUILD> <PATH>

    Arguments:
      <BUILD>  Engine or a name for your own engine, with a name for the build: postgres@mine, sorted@1
      <PATH>   The library; or a server's installation directory or program (not copied)

    Options:
          --headers <DIR>  Directory of the headers, if not near the library; for engines driven through
                           a shim
      -h, --help           Print help

    Directories:
          --results <DIR>    Directory of the archive [default: results]
          --data-dir <DIR>   Directory for the data of running engines [default: assay-data]
          --cache-dir <DIR>  Directory of fetched engine builds [default: ~/.cache/assay]
    ");
}

#[test]
fn completions_are_generated_for_each_shell() {
    for (shell, sign) in
        [("bash", "complete -F"), ("zsh", "#compdef assay"), ("fish", "complete -c")]
    {
        let output = Workspace::new().assay(&["completions", shell]);
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        assert!(output.out.contains(sign), "{shell}");
        assert!(commands().iter().all(|command| output.out.contains(command)), "{shell}");
    }
}

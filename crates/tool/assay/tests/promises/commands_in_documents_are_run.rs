//! Commands that the documents type are run, as a reader would.
//!
//! Goal: no page has a command that fails or prints no answer. Method: README and each page of the
//! guide are followed in a directory, from top to bottom. TOML is written under its name, and
//! planned. Commands are run with 1,000 rows and steps of 60 ms. [`LEFT_OUT`] has the others.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::workspace::{ProgramOutput, Workspace};

/// A text of a command, and why commands with it are not run.
struct Exception {
    text: &'static str,
    reason: &'static str,
}

/// Commands that are left out.
const LEFT_OUT: [Exception; 16] = [
    Exception { text: "release-train", reason: "it needs several machines; tests/fleet has them" },
    Exception { text: "archive merge", reason: "it needs two more archives" },
    Exception { text: "make ", reason: "it builds and tests the whole repository" },
    Exception { text: "0.1.0", reason: "packaging/test.py installs the packages" },
    Exception { text: "flame ", reason: "steps of 60 ms have few samples; another test runs it" },
    Exception { text: "--across hosts", reason: "it needs results of two hosts" },
    Exception { text: "/dev/sdb", reason: "it needs an unused block device" },
    Exception { text: "engine get ", reason: "it fetches from the network" },
    Exception { text: "engine build ", reason: "it compiles for minutes" },
    Exception { text: "libsplinterdb.so", reason: "it needs SplinterDB, which no registry has" },
    Exception { text: "rocksdb@9.0.0", reason: "it needs the build fetched above" },
    Exception { text: "sorted-go", reason: "it needs Go; another test runs it" },
    Exception { text: "read -rs", reason: "it reads from a terminal" },
    Exception { text: "own-server.toml", reason: "it needs a server that runs" },
    Exception { text: "ASSAY_PASSWORD_PG", reason: "it needs a server that runs" },
    Exception { text: "--resume index-log-vs-lsm", reason: "the run above is planned only" },
];

/// Runs that are planned.
const PLANNED: [Exception; 7] = [
    Exception { text: "run quickstart --report", reason: "it has 24 runs" },
    Exception { text: "--sla", reason: "a search takes minutes" },
    Exception { text: "--clients sweep", reason: "a sweep has six levels" },
    Exception { text: "--workload iobuf", reason: "its rows follow from the machine" },
    Exception { text: "same-twice", reason: "it has 20 runs" },
    Exception { text: "innodb-5.6-to-8.0", reason: "it starts three servers" },
    Exception { text: "index-log-vs-lsm", reason: "it has 18 runs" },
];

/// Engines whose builds lie in the cache.
const CACHED: [&str; 4] = ["rocksdb@", "postgres@", "mysql@", "mariadb@"];

/// What a command of this program must print, and the exit codes that are an answer.
struct Answer {
    command: &'static str,
    codes: &'static [i32],
    text: &'static str,
}

/// Answers by command; 3 means that nothing was decided, which so few rows may show.
const ANSWERS: [Answer; 18] = [
    Answer { command: "archive", codes: &[0], text: ".parquet" },
    Answer { command: "compare", codes: &[0, 3], text: "redb" },
    Answer { command: "device", codes: &[0], text: "" },
    Answer { command: "doctor", codes: &[0, 1], text: "" },
    Answer { command: "durability", codes: &[0], text: "power cuts" },
    Answer { command: "engine", codes: &[0], text: "" },
    Answer { command: "explain", codes: &[0, 3], text: "readrandom" },
    Answer { command: "export", codes: &[0], text: "assay" },
    Answer { command: "history", codes: &[0, 3], text: "" },
    Answer { command: "import", codes: &[0], text: "" },
    Answer { command: "lint", codes: &[0, 1, 3], text: "" },
    Answer { command: "list", codes: &[0], text: "" },
    Answer { command: "micro", codes: &[0], text: "crc32c" },
    Answer { command: "plan", codes: &[0], text: "" },
    Answer { command: "report", codes: &[0, 3], text: ".html" },
    Answer { command: "run", codes: &[0, 3], text: "results/" },
    Answer { command: "show", codes: &[0], text: "readrandom" },
    Answer { command: "workload", codes: &[0], text: "" },
];

/// An experiment of the name that the README's has, in little time.
const QUICKSTART: &str = r#"experiment = { name = "quickstart", question = "Which engine?" }
[benchmark]
steps = ["readrandom"]
rows = 10
[factors]
repetitions = 2
[[variant]]
name = "sqlite"
engine = "sqlite"
[[variant]]
name = "redb"
engine = "redb"
"#;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// Returns the Markdown pages of a folder and of those below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let of_entry = |path: PathBuf| if path.is_dir() { pages(&path) } else { vec![path] };
    let all = entries.flat_map(of_entry);
    all.filter(|path| path.extension().is_some_and(|ext| ext == "md")).collect()
}

/// Returns the commands `assay run STEPS...` of a page, up to the end of their code.
fn typed(page: &str) -> Vec<Vec<&str>> {
    let commands = page.match_indices("assay run ").map(|(at, _)| &page[at..]);
    let code = commands.filter_map(|rest| rest.split(['`', '\n', '#', '\\']).next());
    let args = code.map(|code| code.split_whitespace().skip(2).collect::<Vec<_>>());
    // Files of the reader's own, and runs that go on, cannot be planned here.
    args.filter(|args| args.contains(&"--engine") && !args.iter().any(is_own)).collect()
}

fn is_own(arg: &&str) -> bool {
    arg.contains(['\'', '"', '<']) || arg.ends_with(".toml") || *arg == "--resume"
}

#[test]
fn every_typed_run_can_be_planned() {
    let root = Path::new(ROOT);
    let workspace = Workspace::new();
    // A plan reads the names of the reader's own engines, not their libraries.
    for own in ["sorted", "ordered", "sorted-go", "badger"] {
        let cached = workspace.path("cache/assay/engines").join(own).join("1");
        fs::create_dir_all(cached).expect("a directory");
    }
    let mut planned = BTreeSet::new();
    for page in [vec![root.join("README.md")], pages(&root.join("docs"))].concat() {
        let text = fs::read_to_string(&page).expect("a page");
        for mut args in typed(&text) {
            args.retain(|arg| !["--report", "--verbose"].contains(arg));
            if !planned.insert(args.join(" ")) {
                continue;
            }
            let output = workspace.assay(&[&["plan"], &args[..]].concat());
            assert_eq!(output.code, 0, "{args:?} of {page:?}: {}", output.err);
        }
    }
    assert!(planned.len() >= 10, "{planned:?}");
}

/// A block of a page.
enum Block {
    /// A file, or a part of one, with the name that the text before it has.
    Toml { name: Option<String>, text: String },
    /// Lines of commands, comments taken out.
    Commands(Vec<String>),
}

/// Returns the blocks of a page; what a program printed is none.
fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut parts = page.split("\n```");
    let mut before = parts.next().unwrap_or_default();
    // Odd parts are blocks, the first line being their language.
    while let (Some(block), Some(after)) = (parts.next(), parts.next()) {
        let (language, text) = block.split_once('\n').expect("a block has lines");
        let is_toml = language == "toml" || text.starts_with('[');
        match language {
            "text" | "sql" | "python" => {}
            _ if is_toml => found.push(Block::Toml { name: file_name(before), text: text.into() }),
            _ => found.push(Block::Commands(commands(text))),
        }
        before = after;
    }
    found
}

/// Returns the last file that the paragraph before a block names.
fn file_name(before: &str) -> Option<String> {
    let paragraph = before.trim_end().rsplit("\n\n").next()?;
    let mut names = paragraph.split('`').filter_map(|code| code.split_whitespace().last());
    let name = names.rfind(|name| name.ends_with(".toml"))?;
    Some(name.trim_start_matches("./").to_owned())
}

/// Returns the commands of a block, without comments; a backslash continues a line.
fn commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let code = joined.lines().map(|line| line.split(" #").next().unwrap_or_default().trim());
    code.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// Splits a command into its arguments; single quotes hold one together.
fn args_of(command: &str) -> Vec<String> {
    let parts = command.split('\'').enumerate();
    let split = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    split.collect()
}

/// Sets an option of a command line, in place of the page's value.
fn set(args: &mut Vec<String>, option: &str, value: &str) {
    unset(args, option);
    args.extend([option.to_owned(), value.to_owned()]);
}

fn unset(args: &mut Vec<String>, option: &str) {
    while let Some(at) = args.iter().position(|arg| arg == option) {
        args.drain(at..args.len().min(at + 2));
    }
}

/// Makes the amounts of a command small.
fn shorten(args: &mut Vec<String>) {
    let has = |args: &[String], option: &str| args.iter().any(|arg| arg == option);
    match args[0].as_str() {
        "run" => {
            // MySQL takes 15 s to set up, and other tests start it.
            let is_mysql = |arg: &String| arg.starts_with("mysql@");
            if let Some(at) = args.iter().position(is_mysql) {
                args.drain(at - 1..=at);
            }
            if has(args, "--until") {
                set(args, "--budget", "2s");
            }
            if !has(args, "--resume") {
                set(args, "--rows", "1k");
                set(args, "--duration", "60ms");
                set(args, "--warmup", "10ms");
            }
        }
        "device" if has(args, "--path") => {
            for (option, value) in [
                ("--path", "."),
                ("--test", "randread-4k"),
                ("--access", "buffered"),
                ("--jobs", "1"),
                ("--repetitions", "1"),
                ("--minutes", "0.02"),
                ("--size", "1MiB"),
                ("--disk-floor", "1MiB"),
            ] {
                set(args, option, value);
            }
        }
        // The noise of such short runs allows no plan.
        "plan" if has(args, "--half-width") => set(args, "--results", "empty"),
        "durability" => set(args, "--cuts", "2"),
        "micro" => {
            set(args, "--span", "1ms");
            set(args, "--kernel", "crc32c");
        }
        _ => {}
    }
}

/// Adds what a part of an experiment file lacks.
fn completed(text: &str) -> String {
    let has = |head: &str| text.lines().any(|line| line.starts_with(head));
    let of_tables = text.contains("l.i1");
    let head = "[experiment]\nname = \"part\"\n";
    let mut whole = match has("[experiment]") {
        _ if has("name ") && has("[experiment]") => text.to_owned(),
        true => text.replace("[experiment]\n", head),
        false => format!("{head}question = \"?\"\n{text}"),
    };
    if !has("[benchmark]") && !has("[device]") {
        whole += match of_tables {
            true => "\n[benchmark]\nworkload = \"ibench-2023\"\nrows = \"100k\"\n",
            false => "\n[benchmark]\nsteps = [\"readrandom\"]\nrows = 10\ndurability = \"none\"\n",
        };
    }
    if !has("[[variant]]") && !has("[device]") {
        let engine = if of_tables { "postgres@15.10" } else { "lmdb" };
        whole += &format!("\n[[variant]]\nname = \"one\"\nengine = \"{engine}\"\n");
    }
    whole
}

/// A reader who follows one page.
struct Reader<'p> {
    page: &'p str,
    workspace: Workspace,
    /// Whether the page adds builds: the cache is then the page's own.
    has_own_cache: bool,
    /// Commands run, those planned included.
    run: usize,
    /// Why commands were not run.
    skipped: BTreeSet<String>,
    /// Commands without an answer.
    failed: Vec<String>,
}

impl<'p> Reader<'p> {
    fn new(page: &'p str, text: &str) -> Self {
        let workspace = Workspace::new();
        for folder in ["experiments", "applications", "profiles", "crates", "examples"] {
            symlink(Path::new(ROOT).join(folder), workspace.path(folder)).expect("a link");
        }
        let has_own_cache = text.contains("assay engine add");
        Self {
            page,
            workspace,
            has_own_cache,
            run: 0,
            skipped: BTreeSet::new(),
            failed: Vec::new(),
        }
    }

    /// Uses a block.
    fn read(&mut self, block: &Block) {
        match block {
            Block::Toml { name, text } => self.write(name.as_deref(), text),
            Block::Commands(commands) => commands.iter().for_each(|command| self.command(command)),
        }
    }

    /// Writes a file, and plans the experiment that it is, or is a part of.
    fn write(&mut self, name: Option<&str>, text: &str) {
        let is_application = ["[[table]]", "[procedure"].iter().any(|head| text.contains(head));
        if let Some(name) = name {
            self.workspace.write(name, text);
        }
        if is_application {
            let Some(name) = name else {
                return self.skip("a part of an application", "the rest of it is on another page");
            };
            return self.program(&["workload".to_owned(), format!("./{name}")]);
        }
        self.workspace.write("part.toml", completed(text));
        self.program(&["plan".to_owned(), "part.toml".to_owned()]);
    }

    /// Runs a command, plans it, or notes why not.
    fn command(&mut self, command: &str) {
        let is_of = |one: &&Exception| command.contains(one.text);
        if let Some(one) = LEFT_OUT.iter().find(is_of) {
            return self.skip(command, one.reason);
        }
        let mut args = args_of(command);
        let program = args.remove(0);
        if program != "assay" {
            return self.tool(&program, &args);
        }
        if args[0] == "device" && Command::new("fio").arg("--version").output().is_err() {
            return self.skip(command, "no fio (scripts/setup.sh device)");
        }
        shorten(&mut args);
        let absent = self.absent_build(&args);
        let planned = PLANNED.iter().find(is_of).filter(|_| args[0] == "run");
        if args[0] == "run" && (absent.is_some() || planned.is_some()) {
            let reason = planned.map_or_else(|| absent.unwrap_or_default(), |it| it.reason.into());
            self.skip(command, &reason);
            args[0] = "plan".to_owned();
            args.retain(|arg| arg != "--report");
        } else if let Some(reason) = absent.filter(|_| args[0] != "plan") {
            return self.skip(command, &reason);
        }
        self.program(&args);
    }

    /// Runs this program, and checks its answer.
    fn program(&mut self, args: &[String]) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let is_server = |arg: &&&str| arg.starts_with("postgres@");
        let mut program = match args[0] == "run" && args.iter().any(|arg| is_server(&arg)) {
            true => self.workspace.program_on_servers(&args),
            false => self.workspace.program(&args),
        };
        if !self.has_own_cache {
            program.env_remove("XDG_CACHE_HOME");
        }
        let output = ProgramOutput::of(program.output().expect("the program starts"));
        let answer = ANSWERS.iter().find(|one| one.command == args[0]);
        let Some(answer) = answer else {
            return self.failed.push(format!("{}: no answer is known of {args:?}", self.page));
        };
        let is_answer = !output.out.trim().is_empty() && output.out.contains(answer.text);
        // What was written is named on the other channel.
        let is_named = !answer.text.is_empty() && output.err.contains(answer.text);
        if !answer.codes.contains(&output.code) || !(is_answer || is_named) {
            let ProgramOutput { code, out, err } = output;
            self.failed.push(format!("{}: {args:?}: {code}\n{out}{err}", self.page));
        }
        self.run += 1;
    }

    /// Runs a compiler in the directory.
    fn tool(&mut self, program: &str, args: &[String]) {
        let known = ["cc", "rustc"].contains(&program);
        assert!(known, "{}: `{program}` is neither run nor left out", self.page);
        let output = Command::new(program).args(args).current_dir(self.workspace.path("")).output();
        let Ok(output) = output else { return self.skip(program, "it is not installed") };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {program} {args:?}: {errors}", self.page);
        self.run += 1;
    }

    /// Returns why a build that a command or its file needs cannot be used.
    fn absent_build(&self, args: &[String]) -> Option<String> {
        let files = args.iter().filter(|arg| arg.ends_with(".toml"));
        let texts = files.filter_map(|file| fs::read_to_string(self.workspace.path(file)).ok());
        let all = args.iter().cloned().chain(texts).collect::<Vec<_>>().join("\n");
        let is_sign = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '@' | '.' | '-' | '_');
        let mut builds =
            all.split(is_sign).filter(|word| CACHED.iter().any(|engine| word.starts_with(engine)));
        let is_absent = |build: &&str| !ordinary_cache().join(build.replace('@', "/")).is_dir();
        builds.find(is_absent).map(|build| format!("{build} is not in the cache"))
    }

    fn skip(&mut self, what: &str, reason: &str) {
        self.skipped.insert(format!("{}: {what}: {reason}", self.page));
    }
}

/// Returns the directory of the builds that this account has.
fn ordinary_cache() -> PathBuf {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Path::new(&env::var_os("HOME").unwrap_or_default()).join(".cache");
    cache.unwrap_or_else(home).join("assay/engines")
}

/// Follows a page from top to bottom; prints what was left out.
#[expect(clippy::print_stdout, reason = "a test that skips a part prints why")]
fn follow(page: &str) -> Reader<'_> {
    let text = fs::read_to_string(Path::new(ROOT).join(page)).expect("a page");
    let mut reader = Reader::new(page, &text);
    if text.contains("export quickstart") {
        // Its reader has run the quickstart, whose experiment has this name.
        reader.workspace.write("quickstart.toml", QUICKSTART);
        reader.command("assay run quickstart.toml");
    }
    blocks(&text).iter().for_each(|block| reader.read(block));
    for skipped in &reader.skipped {
        println!("skipped in part: {skipped}");
    }
    reader
}

#[test]
fn every_command_block_of_readme_and_guide_is_run() {
    ["rocksdb@9.10.0", "rocksdb@11.8.1"].iter().for_each(|it| drop(supply::testing::build(it)));
    let of_root = |path: &PathBuf| path.strip_prefix(ROOT).expect("a page").display().to_string();
    let mut all: Vec<_> = pages(&Path::new(ROOT).join("docs/guide")).iter().map(of_root).collect();
    all.push("README.md".to_owned());
    all.sort();
    let readers: Vec<_> = all.iter().map(|page| follow(page)).collect();
    let failed: Vec<_> = readers.iter().flat_map(|reader| reader.failed.clone()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(readers.iter().map(|reader| reader.run).sum::<usize>() > 60);
}

//! Passwords reach no other process, no file and no output; servers have no rights.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use model::{Endpoint, Options};
use server::testing::{assert_without_rights, is_root, started};

use crate::scale::is_long;
use crate::workspace::{ProgramOutput, Workspace};

/// The example engine, which writes down its environment when it is loaded.
const SOURCE: &str = concat!(
    include_str!("../../../../drive/shim/tests/sorted.c"),
    r#"
#include <stdio.h>
extern char **environ;
__attribute__((constructor)) static void write_environment(void) {
    FILE *file = fopen(ENVIRONMENT, "a");
    for (char **variable = environ; *variable; variable++) fprintf(file, "%s\n", *variable);
    fclose(file);
}
"#
);

/// Goal: a library of an engine learns no password, whatever its variable is called.
/// Method: one that dumps its environment is added, which tests it, and measured.
#[test]
fn library_in_a_worker_finds_no_password_in_its_environment() {
    let workspace = Workspace::new();
    workspace.write("sorted.c", SOURCE);
    let dump = workspace.path("environment");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drive/shim/include");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-I"]).arg(include);
    compiler.arg(format!("-DENVIRONMENT=\"{}\"", dump.display()));
    compiler.arg(workspace.path("sorted.c")).arg("-o").arg(workspace.path("libsorted.so"));
    let Ok(compiled) = compiler.output() else {
        println!("skipped: no cc: apt install gcc libc6-dev");
        return;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = "run readrandom --engine sorted@mine --rows 1k --duration 50ms --durability none";
    for arguments in ["engine add sorted@mine ./libsorted.so", run] {
        let arguments: Vec<_> = arguments.split(' ').collect();
        let mut program = workspace.program(&arguments);
        program.env("ASSAY_PASSWORD_PG", "hush-hush").env("DB_LOGIN", "hush-hush");
        let output = ProgramOutput::of(program.env("MALLOC_CONF", "").output().expect("it starts"));
        let is_ended = output.code == 0 || (arguments[0] == "run" && output.code == 3);
        assert!(is_ended, "{}: {}", output.code, output.err);
        let environment = fs::read_to_string(&dump).expect("the library was loaded");
        fs::remove_file(&dump).expect("the file was read");
        assert!(environment.contains("PATH=") && environment.contains("MALLOC_CONF="));
        assert!(!environment.contains("hush-hush"), "{environment}");
    }
}

/// The server that passwords are given for.
const POSTGRES: &str = "postgres@15.10";
/// Measures a server that runs already.
const EXPERIMENT: &str = r#"[experiment]
name = "given"
question = "Is the password secret?"

[benchmark]
steps = ["fillseq", "readrandom"]
rows = "1k"
duration = "100ms"
warmup = "0s"

[[variant]]
name = "pg"
engine = "postgres"
dsn = "DSN"
"#;
/// Time between two scans of all processes.
const PAUSE: Duration = Duration::from_millis(10);
/// Depth below the data directory at which a server has its files.
const DEPTH: u32 = 3;

/// Returns the servers that are started: some in every test, each in a long campaign.
fn builds() -> &'static [&'static str] {
    let all = &[POSTGRES, "mysql@8.0.31", "mariadb@10.11", "postgres@12.20", "postgres@18.0"];
    if is_long() { all } else { &all[..2] }
}

/// What was observed of all processes while a command ran.
#[derive(Default)]
struct Watch {
    /// Passwords that the command gave to its servers, and the one that it got.
    passwords: BTreeSet<String>,
    /// Whether the command itself has the password in its environment.
    is_in_environment: bool,
    /// Processes of servers.
    servers: BTreeSet<PathBuf>,
    scans: u32,
}

impl Watch {
    /// Scans all processes until the command ends.
    fn until_end(&mut self, mut run: Child, data: &Path) -> Output {
        let own = PathBuf::from(format!("/proc/{}", run.id()));
        while run.try_wait().expect("it can be waited for").is_none() {
            self.passwords.extend(passwords_below(data, DEPTH));
            self.scan(&own);
            self.scans += 1;
            pause();
        }
        run.wait_with_output().expect("it was started with pipes")
    }

    /// Checks that no process has a password, and none below `own` that is not root's has rights.
    fn scan(&mut self, own: &Path) {
        let processes = fs::read_dir("/proc").expect("it is mounted").flatten();
        let mut others = Vec::new();
        for process in processes.map(|entry| entry.path()) {
            self.check_secrets(&process, own);
            others.extend(parent(&process).map(|parent| (parent, process)));
        }
        let mut below = BTreeSet::from([own.to_owned()]);
        // A parent may have a higher number than its child, where the kernel began anew.
        loop {
            let is_below = |(parent, _): &mut (PathBuf, PathBuf)| below.contains(parent);
            let found: Vec<_> = others.extract_if(.., is_below).collect();
            if found.is_empty() {
                return;
            }
            for (_, process) in found {
                below.insert(process.clone());
                self.check_rights(process);
            }
        }
    }

    fn check_secrets(&self, process: &Path, own: &Path) {
        let has = |name: &str| {
            let bytes = fs::read(process.join(name)).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            self.passwords.iter().any(|password| text.contains(password.as_str()))
        };
        assert!(!has("cmdline"), "a password is on the command line of {}", process.display());
        if !has("environ") || (self.is_in_environment && process == own) {
            return;
        }
        // A new process is a copy of its parent until it runs its program.
        let command_line = |process: &Path| fs::read(process.join("cmdline")).unwrap_or_default();
        let is_copy = self.is_in_environment && command_line(process) == command_line(own);
        assert!(is_copy || !has("environ"), "a password is in the environment of {process:?}");
    }

    fn check_rights(&mut self, process: PathBuf) {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let program = || fs::read_link(process.join("exe")).unwrap_or_default();
        let is_of_root = || {
            let status = fs::read_to_string(process.join("status")).unwrap_or_default();
            !status.contains("Uid:") || status.contains("Uid:\t0\t")
        };
        // Those that take the rights away have them until they run the next program.
        let before = program();
        let is_between = ["setpriv", "unshare"].iter().any(|name| before.ends_with(name));
        if is_of_root() || is_between || before != program() {
            return;
        }
        if assert_without_rights(&process) {
            self.servers.insert(process);
        }
    }

    /// Checks that no password is in the output, or in a file below `dir`.
    fn assert_secret(&self, dir: &Path, outputs: &[&Output]) {
        assert!(!self.passwords.is_empty(), "no password was observed");
        let has_password = |bytes: &[u8]| {
            let has = |password: &String| {
                bytes.windows(password.len()).any(|part| part == password.as_bytes())
            };
            self.passwords.iter().any(has)
        };
        for output in outputs {
            assert!(!has_password(&output.stdout) && !has_password(&output.stderr), "{output:?}");
        }
        for file in files(dir) {
            let bytes = fs::read(&file).expect("readable");
            assert!(!has_password(&bytes), "a password is in {}", file.display());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test watches processes in real time")]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// Returns the process that started this one.
fn parent(process: &Path) -> Option<PathBuf> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let id = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.to_owned();
    Some(Path::new("/proc").join(id))
}

/// Returns the files below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the passwords of the servers that work below a directory.
fn passwords_below(dir: &Path, depth: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.ends_with("password") {
            // It is there before it is written.
            let written = fs::read_to_string(path).ok().filter(|text| text.len() >= 32);
            found.extend(written);
        } else if depth > 1 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(passwords_below(&path, depth - 1));
        }
    }
    found
}

/// Returns the program with these arguments in the workspace, with the builds of this user.
fn program(workspace: &Workspace, arguments: &str) -> Command {
    let mut command = Command::new(cargo_bin("assay"));
    command.current_dir(workspace.path("")).args(arguments.split(' '));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Goal: nothing that a managed server starts has a right of root at any moment, and its password
/// is known to no other process.
/// Method: all processes are read again and again from the first to the last of a run.
#[test]
fn managed_servers_have_no_rights_and_secret_passwords() {
    if !is_root() {
        return;
    }
    for build in builds() {
        if let Err(reason) = supply::testing::build(build) {
            println!("skipped: {reason}");
            continue;
        }
        let workspace = Workspace::new();
        let run = format!(
            "run fillseq readrandom --engine {build} --rows 1k --duration 100ms --warmup 0s --report \
             --disk-floor 1MiB"
        );
        let run = program(&workspace, &run).spawn().expect("it starts");
        let mut watch = Watch::default();
        let output = watch.until_end(run, &workspace.path("assay-data"));
        assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
        watch.assert_secret(&workspace.path(""), &[&output]);
        // One or more of set-up, and the server.
        assert!(watch.servers.len() >= 2, "{:?}", watch.servers);
        println!(
            "{build}: {} processes of servers and {} passwords in {} scans",
            watch.servers.len(),
            watch.passwords.len(),
            watch.scans
        );
    }
}

/// Goal: a password that the user gives is known to the program and its worker alone.
/// Method: it is in a variable, then in the experiment file; all processes are read meanwhile, and
/// every output and file afterwards.
#[test]
fn given_passwords_stay_secret() {
    let artifact = match supply::testing::build(POSTGRES) {
        Ok(artifact) => artifact,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let place = tempfile::tempdir().expect("a directory");
    let kind = &driver_postgres::KIND;
    let server = started(kind, &artifact.library, place.path(), &Options::new());
    let Endpoint { address, user, database, password, .. } = &server.endpoint;
    let password = password.clone().expect("it requires one").0;
    for (is_in_environment, written) in
        [(true, "${ASSAY_PASSWORD_LOGIN}"), (false, password.as_str())]
    {
        let workspace = Workspace::new();
        let dsn = format!("postgres://{user}:{written}@/{database}?socket={address}");
        let given = tempfile::NamedTempFile::new().expect("a file elsewhere");
        fs::write(given.path(), EXPERIMENT.replace("DSN", &dsn)).expect("writable");
        let run = format!("run {} --report --disk-floor 1MiB", given.path().display());
        let mut run = program(&workspace, &run);
        if is_in_environment {
            run.env("ASSAY_PASSWORD_LOGIN", &password);
        }
        let passwords = BTreeSet::from([password.clone()]);
        let mut watch = Watch { passwords, is_in_environment, ..Watch::default() };
        let run = run.spawn().expect("it starts");
        let mut outputs = vec![watch.until_end(run, &workspace.path("assay-data"))];
        assert!(matches!(outputs[0].status.code(), Some(0 | 3)), "{:?}", outputs[0]);
        for read in ["show given", "compare given", "list given", "lint given", "history"] {
            outputs.push(program(&workspace, read).output().expect("it starts"));
        }
        // One that the server rejects, with its message.
        let wrong = dsn.replace(written, &format!("{password}-wrong"));
        fs::write(given.path(), EXPERIMENT.replace("DSN", &wrong)).expect("writable");
        let run = format!("run {} --disk-floor 1MiB", given.path().display());
        let rejected = program(&workspace, &run).output().expect("it starts");
        assert_eq!(rejected.status.code(), Some(1), "{rejected:?}");
        outputs.push(rejected);
        watch.assert_secret(&workspace.path(""), &outputs.iter().collect::<Vec<_>>());
        println!("a given password in {} scans, {} outputs", watch.scans, outputs.len());
    }
}

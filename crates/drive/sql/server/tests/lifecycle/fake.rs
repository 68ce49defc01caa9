//! A fake server: a few lines of shell.

use std::fs;
use std::path::Path;
use std::time::Duration;

use engine::EngineError;
use model::{Address, Endpoint, Options, Settings};
use server::{Kind, Running, ServerError, ServerPlacement, ServerSpec, Site, Start, Stop, Task};

/// Signals readiness by creating a file; its only option names a fault.
pub(crate) struct Fake;

/// The program, by the value of option `fault`.
///
/// It sleeps in short pieces: a signal just before a long `wait` is handled only after it. SIGINT
/// could not be trapped where the tests run in the background of a shell.
const SERVE: &str = r#"
case "$3" in
  rejects) echo "FATAL: unrecognized configuration parameter \"fault\""; exit 1 ;;
  mute) exec sleep 600 ;;
esac
[ -e "$1/made" ] || { echo "no data directory"; exit 1; }
cd "$1"
sleep 600 & child=$!
trap 'echo bye; kill $child; rm "$2/ready"; exit 0' TERM
[ "$3" = stubborn ] && trap '' TERM
id -u > "$1/user"
echo $child > "$2/ready"
echo listening
while :; do sleep 0.02; done
"#;

impl Kind for Fake {
    fn engine(&self) -> &'static str {
        "fake"
    }

    fn set_up(&self, spec: &ServerSpec<'_>) -> Result<Vec<Task>, EngineError> {
        let data = spec.site.data.display();
        let links = spec.options.iter().map(|(_, value)| links(value, spec.site));
        let links: String = links.collect();
        let script = format!("echo set up; [ -z \"$(cat)\" ] || touch {data}/made; {links}");
        let arguments = vec!["-c".to_owned(), script];
        let input = "create everything;\n".to_owned();
        let make = Task { program: "/bin/sh".into(), arguments, input, ..Task::default() };
        let script = format!("cat > {data}/password");
        let set_password = Task {
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), script],
            secret_input: Some(spec.site.password.clone()),
            ..Task::default()
        };
        Ok(vec![make, set_password])
    }

    fn serve(&self, spec: &ServerSpec<'_>) -> Result<Task, EngineError> {
        let dirs = [&spec.site.data, &spec.site.socket].map(|dir| dir.display().to_string());
        let fault = spec.options.iter().map(|(_, value)| value.to_owned());
        let mut arguments = vec!["-c".to_owned(), SERVE.to_owned(), "fake".to_owned()];
        arguments.extend(dirs);
        arguments.extend(fault);
        let files = vec![(spec.site.file("fake.conf"), "quiet = true\n".to_owned())];
        Ok(Task { program: spec.program.into(), arguments, files, ..Task::default() })
    }

    fn endpoint(&self, site: &Site) -> Endpoint {
        Endpoint {
            address: Address::Socket(site.socket.join("ready")),
            user: "bench".to_owned(),
            password: None,
            database: "bench".to_owned(),
            is_foreign: false,
            login: model::LoginOptions::default(),
        }
    }

    fn probe(&self, endpoint: &Endpoint) -> Result<(), EngineError> {
        let Address::Socket(path) = &endpoint.address else { unreachable!() };
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => Ok(()),
            _ => Err(EngineError::Fatal("the socket file is missing".to_owned())),
        }
    }

    fn stop(&self) -> Stop {
        Stop::Terminate
    }

    fn startup_error(&self, log: &str) -> EngineError {
        if log.contains("\"fault\"") {
            return engine::settings_check::refused("fault", "unrecognized");
        }
        EngineError::Fatal(log.lines().last().unwrap_or_default().to_owned())
    }

    fn is_log(&self, _path: &Path) -> bool {
        false
    }
}

/// Option value of a server that plants links to that file.
pub(crate) const PLANTS: &str = "plants:";

/// Returns the script that plants links in each place that the server can write.
fn links(fault: &str, site: &Site) -> String {
    let Some(victim) = fault.strip_prefix(PLANTS) else { return String::new() };
    let dirs = [&site.data, &site.socket, &site.temporary];
    let names = ["fake.conf", "postgresql.conf", "server.log", "base"];
    let names = |dir: &Path| names.map(|name| format!("{}/{name}", dir.display())).join(" ");
    let places = dirs.map(|dir| names(dir)).join(" ");
    format!("for place in {places}; do ln -sfn {victim} $place; done")
}

/// Starts one on `dir` with a fault, or none.
pub(crate) fn start(dir: &Path, fault: &str, within: Duration) -> Result<Running, ServerError> {
    start_with(dir, fault, within, None)
}

/// Starts one, with templates.
pub(crate) fn start_with(
    dir: &Path,
    fault: &str,
    within: Duration,
    templates: Option<&Path>,
) -> Result<Running, ServerError> {
    let start = Start {
        kind: &Fake,
        program: Path::new("/bin/sh"),
        fingerprint: "fake",
        dir,
        settings: &Settings::default(),
        options: &[("fault", fault)].into_iter().collect::<Options>(),
        address: None,
        user: None,
        placement: ServerPlacement::default(),
        templates,
        ready_within: within,
    };
    Running::start(&start, &|| false)
}

/// Returns the process that a running fake has started.
pub(crate) fn child_pid(running: &Running) -> u32 {
    let Address::Socket(path) = &running.endpoint.address else { unreachable!() };
    let text = fs::read_to_string(path).expect("it is ready");
    text.trim().parse().expect("a process id")
}

/// Returns whether a process has not ended.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

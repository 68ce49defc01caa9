//! A durability class that writes do not have is rejected before machine time is spent.

use driver_postgres::KIND;
use model::{Endpoint, Options};
use server::testing::started;

use crate::rejection::{TINY, rejected_at_once, unwrapped};
use crate::workspace::Workspace;

/// The server of the test.
const POSTGRES: &str = "postgres@15.10";

/// Goal: data on a file system in memory have class `none`, whatever the engine.
#[test]
fn data_in_memory_have_no_class() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return println!("skipped: no tmpfs") };
    let data = memory.path().join("data").display().to_string();
    let workspace = Workspace::new();
    workspace.write("mine.toml", TINY);
    let message = "durability class os is claimed, but data on tmpfs (in memory) allows class \
                   `none` at most (nothing survives before a clean close)";
    let at_once = rejected_at_once(&workspace, &["run", "mine.toml", "--data-dir", &data]);
    let text = unwrapped(&at_once);
    assert!(text.contains("the result would be bogus: A071 durability not provided"), "{text}");
    assert!(text.contains("put the data on a drive (--data-dir DIR), or claim"), "{text}");
    let plan = workspace.assay(&["plan", "mine.toml", "--data-dir", &data]);
    let planned = plan.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(planned.contains(&format!("rejected A071 one: {message}")), "{planned}");
    // The class is had on a drive, where tests have their directories, and `none` in memory too.
    let run = ["run", "mine.toml", "--duration", "50ms", "--data-dir", &data];
    workspace.assay(&[&run[..], &["--durability", "none"]].concat()).recorded();
    // A waived run states what is not had.
    let waived = [&run[..], &["--waive", "A071=the CPU of a sync is the question"]].concat();
    let output = workspace.assay(&waived).recorded();
    assert!(output.err.contains("NOT HAD: data on tmpfs (in memory) allows"), "{}", output.err);
    let show = workspace.assay(&["show", "tiny"]);
    assert!(show.out.contains("durability rests on data on tmpfs (in memory)"), "{}", show.out);
}

/// Goal: of a server that Assay did not start the class is read back, and its own settings that
/// sessions override are printed.
#[test]
fn class_of_a_running_server_is_read_back() {
    let artifact = match supply::testing::build(POSTGRES) {
        Ok(artifact) => artifact,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let place = tempfile::tempdir().expect("a directory");
    // In class `os`, as it is started here, it does not sync.
    let options: Options =
        [("synchronous_commit", "local"), ("full_page_writes", "off")].into_iter().collect();
    let server = started(&KIND, &artifact.library, place.path(), &options);
    let Endpoint { address, user, database, password, .. } = &server.endpoint;
    let password = &password.as_ref().expect("it requires one").0;
    let dsn = format!("postgres://{user}:{password}@/{database}?socket={address}");
    let workspace = Workspace::new();
    let file = |class: &str| {
        let variant = format!("engine = \"postgres\"\ndsn = \"{dsn}\"\ndurability = \"{class}\"");
        workspace.write("mine.toml", TINY.replace("engine = \"sqlite\"", &variant));
    };
    file("sync");
    let refused = workspace.assay(&["run", "mine.toml"]);
    assert_eq!(refused.code, 1);
    let text = unwrapped(&refused.err);
    let reason = "durability `sync`: fsync = off (configuration file) allows class `os` at most";
    assert!(text.contains(reason), "{text}");
    file("os");
    let output = workspace.assay(&["run", "mine.toml", "--duration", "50ms"]).recorded();
    for note in [
        "note      one: the server's own synchronous_commit = local (configuration file) is \
         overridden: sessions of the run have on",
        "note      one: full_page_writes = off (configuration file): pages torn in a crash of the \
         machine are not restored",
        "note      one: the file system of the server's data is not known",
    ] {
        assert!(output.err.contains(note), "{note}: {}", output.err);
    }
    let lint = workspace.assay(&["lint", "tiny"]);
    assert!(lint.out.contains("full_page_writes = off"), "{}", lint.out);
}

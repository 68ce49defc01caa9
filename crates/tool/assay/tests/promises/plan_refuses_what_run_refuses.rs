//! What the text of an experiment decides is refused by `plan` as by `run`.

use crate::rejection::{TINY, unwrapped};
use crate::workspace::Workspace;

/// Changes of the experiment that make it impossible, and what the refusal names.
const REFUSED: [(&str, &str, &str); 10] = [
    ("engine = \"sqlite\"", MYSQL_STANDBY, "assay.replica"),
    ("engine = \"sqlite\"", MARIADB_STANDBY, "assay.replica"),
    ("engine = \"sqlite\"", POSTGRES_STANDBY, "assay.replica"),
    ("engine = \"sqlite\"", FOREIGN_STANDBY, "assay.replica"),
    ("engine = \"sqlite\"", "engine = \"postgres@15.10\"\ndirect_io = true", "direct_io"),
    ("engine = \"sqlite\"", RESERVED, "data_directory"),
    ("engine = \"sqlite\"", FEW_CONNECTIONS, "max_connections"),
    ("engine = \"sqlite\"", "engine = \"lmdb\"\noptions = { no_such = 1 }", "no_such"),
    ("engine = \"sqlite\"", "engine = \"sqlite\"\noptions = { \"assay.protocol\" = 1 }", "assay"),
    ("engine = \"sqlite\"", "engine = \"null\"\ncompression = \"lz4\"\noptions = { a = 1 }", "`a`"),
];
const MYSQL_STANDBY: &str = "engine = \"mysql@8.0.31\"\noptions = { \"assay.replica\" = \"sync\" }";
const MARIADB_STANDBY: &str = "engine = \"mariadb@10.11\"\ndurability = \"none\"\noptions = { \
                               \"assay.replica\" = \"sync\" }";
const POSTGRES_STANDBY: &str = "engine = \"postgres@15.10\"\ndurability = \"none\"\noptions = { \
                                \"assay.replica\" = \"sync\" }";
const FOREIGN_STANDBY: &str = "engine = \"mysql\"\ndsn = \"mysql://u@localhost:3306/d\"\noptions \
                               = { \"assay.replica\" = \"async\" }";
const RESERVED: &str = "engine = \"postgres@15.10\"\noptions = { data_directory = \"/x\" }";
const FEW_CONNECTIONS: &str = "engine = \"postgres@15.10\"\noptions = { max_connections = 4 }";

/// What a host may lack, by the arguments that need it, and what the refusal names.
const LACKING: [(&[&str], &str); 5] = [
    (&["--engine", "sqlite", "--data-dir", "theirs"], "theirs is not empty"),
    (&["--engine", "mariadb@system"], "apt install mariadb-server"),
    (&["--engine", "rocksdb@no-such"], "no source offers rocksdb@no-such"),
    (&["--engine", "sqlite", "--results", "file/below"], "file is not a directory"),
    (&["--engine", "wiredtiger@system", "--cache-dir", "file/x"], "file is not a directory"),
];

#[test]
fn plan_warns_of_what_run_refuses_on_this_host() {
    for (args, named) in LACKING {
        let workspace = Workspace::new();
        std::fs::create_dir(workspace.path("theirs")).unwrap();
        workspace.write("theirs/thesis.tex", "years of work");
        workspace.write("file", "");
        let of = |verb| workspace.assay(&[&[verb, "fillseq", "--rows", "1k"], args].concat());
        let (planned, run) = (of("plan"), of("run"));
        assert_eq!(run.code, 1, "{args:?}: {}", run.out);
        assert!(unwrapped(&run.err).contains(named), "{args:?}: {}", run.err);
        let shown = format!("{}{}", planned.out, unwrapped(&planned.err));
        assert!(shown.contains(named), "{args:?}: {shown}");
        let is_warned = planned.out.contains("`run` refuses this plan on this host: ");
        assert_eq!(is_warned, planned.code == 0, "{args:?}: {shown}");
    }
}

#[test]
fn plan_and_run_refuse_the_same_texts_with_the_same_message() {
    for (old, new, named) in REFUSED {
        let workspace = Workspace::new();
        workspace.write("mine.toml", TINY.replace(old, new));
        let planned = workspace.assay(&["plan", "mine.toml"]);
        assert_eq!((planned.code, planned.out.as_str()), (1, ""), "{new}: {}", planned.err);
        assert!(planned.err.contains(named), "{new}: {}", planned.err);
        let run = workspace.assay(&["run", "mine.toml"]);
        let same = format!("{}  nothing was run\n", planned.err);
        assert_eq!((run.code, run.err), (1, same), "{new}");
        assert!(!workspace.path("assay-data").exists(), "no data directory");
    }
}

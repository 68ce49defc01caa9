//! Passwords in the environment reach no worker and no library in it.

use std::fs;
use std::path::Path;
use std::process::Command;

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
        assert_eq!(output.code, 0, "{}", output.err);
        let environment = fs::read_to_string(&dump).expect("the library was loaded");
        fs::remove_file(&dump).expect("the file was read");
        assert!(environment.contains("PATH=") && environment.contains("MALLOC_CONF="));
        assert!(!environment.contains("hush-hush"), "{environment}");
    }
}

//! No text that leaves the program has a password, wherever one was written.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use crate::rejection::TINY;
use crate::workspace::{ProgramOutput, Workspace};

/// A password that no text of the program has.
const SECRET: &str = "Qx7geheim";
/// An address with it.
const ADDRESS: &str = "postgres://u:Qx7geheim@h/d";
/// What is displayed of it.
const MASKED: &str = "postgres://u:*********@h/d";

fn check(output: &ProgramOutput, what: &str) {
    let text = format!("{}{}", output.out, output.err);
    assert!(!text.contains(SECRET), "{what}: {text}");
}

/// Returns the commands below `path`, and the options of each that take a value.
fn commands(workspace: &Workspace, path: &[String], found: &mut Vec<(Vec<String>, Vec<String>)>) {
    let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = workspace.assay(&arguments).out;
    let options = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let options = options.filter_map(|line| {
        let (name, rest) = line.split_once("--")?.1.split_once([' ', '='])?;
        rest.trim_start().starts_with('<').then(|| format!("--{name}"))
    });
    found.push((path.to_vec(), options.collect()));
    let list = help.split_once("\nCommands:\n").map_or("", |(_, list)| list);
    let list = list.split_once("\n\n").map_or(list, |(list, _)| list);
    for line in list.lines().filter_map(|line| line.strip_prefix("  ")) {
        let name = line.split(' ').next().filter(|name| !name.is_empty() && *name != "help");
        if let Some(name) = name {
            commands(workspace, &[path, &[name.to_owned()]].concat(), found);
        }
    }
}

/// Goal: an address at any place of any command line is refused, and shown without its password.
/// Method: commands, arguments and options are those of the help, so new ones are included.
#[test]
fn no_command_prints_a_typed_password() {
    let workspace = Workspace::new();
    let mut found = Vec::new();
    commands(&workspace, &[], &mut found);
    assert!(found.len() > 25, "{found:?}");
    let results = format!("--results={ADDRESS}");
    let mut runs = 0;
    for (path, options) in &found {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let mut tries = vec![vec![ADDRESS], vec![ADDRESS, ADDRESS], vec![results.as_str()]];
        tries.extend(options.iter().map(|option| vec![option.as_str(), ADDRESS]));
        for arguments in tries {
            let arguments = [&path[..], &arguments].concat();
            let output = workspace.assay(&arguments);
            check(&output, &format!("{arguments:?}"));
            assert_eq!(output.code, 2, "{arguments:?}: {}", output.err);
            assert!(output.err.contains(MASKED) && output.err.contains("dsn"), "{}", output.err);
            runs += 1;
        }
    }
    assert_eq!(fs::read_dir(workspace.path("")).expect("it is there").count(), 0);
    println!("{} commands, {runs} command lines", found.len());
}

/// Other forms in which a password is typed, and what is displayed.
const TYPED: &[(&str, &str)] = &[
    ("POSTGRES+SSL://u:Qx7geheim%40@h", "`POSTGRES+SSL://u:************@h`"),
    ("mariadb://u:a b'Qx7geheim\"@h", "`mariadb://u:"),
    ("jdbc:mysql://h/d?user=u&password=Qx7geheim&x=1", "&password=*********&x=1`"),
    ("host=h password=Qx7geheim user=u", "`host=h password=********* user=u`"),
    ("--password=Qx7geheim", "`--password=*********`"),
    ("sslpassword=Qx7geheim", "`sslpassword=*********`"),
    ("MYSQL_PWD=Qx7geheim", "`MYSQL_PWD=*********`"),
];

#[test]
fn the_secret_alone_is_removed_from_typed_text() {
    let workspace = Workspace::new();
    for (typed, expected) in TYPED {
        let output = workspace.assay(&["list", typed]);
        check(&output, typed);
        assert!(output.err.contains(expected), "{}", output.err);
    }
}

/// Lines of a file, in place of the engine's, that have a password at a wrong place.
const LINES: &[&str] = &[
    "password = 'PW'",
    "pwd = [\"PW\", \"PW\"]",
    "api_key = { a = \"PW\" }",
    "token = PW",
    "passwd: PW",
    "secret = \"PW",
    "engine = \"postgres\"\n[variant.options]\npassword = \"PW\"",
    "engine = \"postgres\"\n[variant.options]\nprimary_conninfo = \"host=h password=PW user=u\"",
    "engine = \"postgres\"\ndsn = \"postgres://u:PW@h\"",
    "engine = \"postgres\"\ndsn = \"postgres://u:PW@h/d?sslmode=prefer&password=PW\"",
    "engine = \"postgres\"\ndsn = \"postgres://u:PW@h/d\"\nprofile = \"postgres://u:PW@h/d\"",
    "engine = \"postgres\"\ndsn = \"me:PW@h/d\"",
    "engine = \"mysql\"\ndsn = \"jdbc:mysql://h/d?password=PW\"",
    "engine = \"postgres://u:PW@h/d\"",
    "engine = \"sqlite\"\ncash = 1 # password = PW",
    "engine = \"postgres\"\ndsn = \"postgres://u:PW@127.0.0.1:1/d\"",
];

/// Goal: a password at a wrong place of a file is masked, and the rest of the message stays.
#[test]
fn no_error_of_a_file_shows_its_passwords() {
    let workspace = Workspace::new();
    for lines in LINES {
        let lines = lines.replace("PW", SECRET);
        workspace.write("mine.toml", TINY.replace("engine = \"sqlite\"", &lines));
        for verb in ["run", "plan", "lint"] {
            let output = workspace.assay(&[verb, "mine.toml"]);
            check(&output, &lines);
            let is_right = lines.contains("127.0.0.1");
            let is_named = output.err.contains("mine.toml:") && output.err.contains("***");
            assert!(is_right || (output.code != 0 && is_named), "{lines}: {}", output.err);
        }
    }
}

/// Goal: texts of an archive, also of a stranger, are masked where they are displayed.
#[test]
fn no_output_shows_a_password_of_an_archive() {
    let workspace = Workspace::with_pair();
    let mut experiments = fs::read_dir(workspace.path("results/pair")).expect("it is imported");
    let dir = experiments.next().expect("one").expect("it is readable").path();
    let path = dir.join("manifest.json");
    let manifest = fs::read_to_string(&path).expect("it is stored");
    let changed = manifest.replace("Do twins differ?", &format!("Do twins of {ADDRESS} differ?"));
    assert_ne!(changed, manifest);
    fs::write(&path, changed).expect("it is writable");
    let mut masked = 0;
    for command in [
        "list",
        "show pair",
        "compare pair",
        "compare pair --format json",
        "explain pair",
        "lint pair",
        "history",
        "verify",
        "report pair",
        "report pair --markdown post",
        "run --resume pair",
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let output = workspace.assay(&arguments);
        check(&output, command);
        masked += usize::from(format!("{}{}", output.out, output.err).contains(MASKED));
    }
    assert!(masked > 1, "the question is in {masked} outputs");
    let page = fs::read_to_string(dir.join("report.html")).expect("it is written");
    assert!(page.contains(MASKED) && !page.contains(SECRET));
}

/// Goal: an address with a placeholder is refused for it, and not for a password.
#[test]
fn a_placeholder_typed_in_an_address_is_named() {
    let workspace = Workspace::new();
    for login in ["bench:$PW@h", "bench:{{ pw }}@h", "bench:pw@$(hostname)"] {
        let address = format!("postgres://{login}/db");
        let output = workspace.assay(&["plan", "readrandom", "--engine", &address]);
        assert_eq!(output.code, 2);
        assert!(
            output.err.contains("contains a placeholder, which nothing replaces"),
            "{}",
            output.err
        );
    }
}

/// Goal: a foreign server that requests the password in clear text gets an error in its place, and
/// is named with the variable before it is connected to.
#[test]
fn no_foreign_server_gets_a_password_in_clear_text() {
    // Source: Postgres' documentation, "Message Formats", AuthenticationCleartextPassword.
    let request = b"R\0\0\0\x08\0\0\0\x03";
    for (parameter, is_sent) in [("", false), ("?require_auth=password", true)] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let server = thread::spawn(move || {
            let (mut client, _) = listener.accept().expect("it is connected to");
            let mut first = [0; 8];
            client.read_exact(&mut first).expect("the start");
            client.write_all(request).expect("it reads");
            let mut received = Vec::new();
            client.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a socket");
            let mut part = [0; 1024];
            while let Ok(bytes @ 1..) = client.read(&mut part) {
                received.extend_from_slice(&part[..bytes]);
                if received.windows(SECRET.len()).any(|it| it == SECRET.as_bytes()) {
                    break;
                }
            }
            received
        });
        let workspace = Workspace::new();
        let dsn = format!("postgres://me:${{ASSAY_PASSWORD_X}}@{address}/d{parameter}");
        let lines = format!("engine = \"postgres\"\ndsn = \"{dsn}\"");
        workspace.write("mine.toml", TINY.replace("engine = \"sqlite\"", &lines));
        let mut program = workspace.program(&["run", "mine.toml"]);
        let output = program.env("ASSAY_PASSWORD_X", SECRET).output().expect("it starts");
        let output = ProgramOutput::of(output);
        let received = server.join().expect("the server ends");
        let has_it = received.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
        check(&output, parameter);
        assert_eq!((has_it, output.code), (is_sent, 1), "{}", output.err);
        let sent = ", which is sent in clear text if the server requests it";
        let clear = if is_sent { sent } else { "" };
        let named = format!(
            "one: connects to me@{address}/d (tcp) with the password in ASSAY_PASSWORD_X{clear}\n"
        );
        assert!(output.err.starts_with(&named), "{}", output.err);
        assert_eq!(output.err.contains("verify-full"), !is_sent, "{}", output.err);
    }
}

//! Target of addresses of servers: nothing displayed has a run of the password.

use plan::{Checked, Overrides, PlanError, load};

use crate::catalog::{MACHINE, OneText};
use crate::plans::shown;

/// Longest run of a password that may be displayed by chance.
const RUN_MAX: usize = 3;
/// The letters of passwords: no text of the program has them all in capitals.
const LETTERS: [char; 4] = ['Q', 'X', 'Z', 'J'];

/// An experiment file without its variant.
const FILE: &str = r#"
[experiment]
name = "fuzz"
question = "?"
[benchmark]
steps = ["fillseq", "readrandom"]
rows = 1000
duration = "1s"
[[variant]]
name = "a"
"#;

/// Entries of the variant; `DSN` stands for the quoted address.
const VARIANTS: [&str; 14] = [
    "engine = \"postgres\"\ndsn = DSN",
    "engine = \"mysql\"\ndsn = DSN",
    "engine = \"postgres\"\ndsn = DSN\ncash = 1",
    "engine = \"postgres\"\ndsn = DSN\ncache = \"1GiB\"",
    "engine = \"postgres@15\"\ndsn = DSN",
    "engine = \"memory\"\ndsn = DSN",
    "engine = \"postgres\"\ndsn = [DSN]",
    "engine = \"postgres\"\ndsn = DSN x",
    "engine = \"postgres\"\ncash = 1\n# dsn = DSN",
    "engine = \"postgres\"\ndsn = { url = DSN }",
    "engine = \"postgres\"\n[variant.options]\ndsn = DSN",
    "engine = DSN",
    "engine = \"memory\"\nprofile = DSN",
    "engine = \"memory\"\nDSN = 1",
];

/// Forms of an address; `PW` stands for the password.
const ADDRESSES: [&str; 9] = [
    "postgres://me:PW@db/x",
    "mysql://me:PW@db/x",
    "postgres://me:PW@db",
    "postgres://me:PW@db:99999/x",
    "postgres://me:PW@/x",
    "postgres://me:PW@db/x?sslmode=require",
    "postgres://:PW@db/x",
    "postgres://db/x?user=me&password=PW",
    "host=db user=me password='PW' dbname=x",
];

/// An address with a password, at any place of a file where a user may write it.
///
/// The first byte chooses the place, the second the form of the address, the third how it is
/// quoted; the rest is the password, its letters made those of [`LETTERS`].
pub(crate) fn address(data: &[u8]) {
    let Some((&[variant, form, quote], rest)) = data.split_first_chunk() else { return };
    let Ok(text) = str::from_utf8(rest) else { return };
    let letter = |c: char| match c {
        c if c.is_ascii_alphabetic() => LETTERS[c as usize % LETTERS.len()],
        c => c,
    };
    let password: String = text.chars().filter(|c| !c.is_control()).map(letter).collect();
    let address = ADDRESSES[usize::from(form) % ADDRESSES.len()].replace("PW", &password);
    let quoted = match quote % 3 {
        0 if !address.contains('\'') => format!("'{address}'"),
        1 => format!("\"{address}\""),
        _ => format!("\"{}\"", address.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    let variant = VARIANTS[usize::from(variant) % VARIANTS.len()].replace("DSN", &quoted);
    let runs = runs(&password);
    let text = of_file(&format!("{FILE}{variant}\n"));
    for run in &runs {
        assert!(!text.contains(run), "{address}: {run:?} of the password is in\n{text}");
    }
}

/// Returns everything displayed of an experiment file.
fn of_file(text: &str) -> String {
    displayed(load("file.toml", text, &Overrides::default(), &OneText::default(), MACHINE))
}

/// Returns everything displayed of an error, or displayed and stored of a checked experiment.
fn displayed(checked: Result<Checked, PlanError>) -> String {
    match checked {
        Ok(checked) => {
            let error = checked.variant_error("a", "it cannot be reached");
            let stored = serde_json::to_string(&checked.experiment).expect("it is valid JSON");
            format!("{checked:?}\n{stored}\n{error:?}\n{}", shown(&error))
        }
        Err(error) => format!("{error:?}\n{}", shown(&error)),
    }
}

/// Returns the runs of a password that are too long to be displayed.
///
/// The name of a variable in its place is no secret.
fn runs(password: &str) -> Vec<String> {
    let is_variable = password.starts_with("${") && password.ends_with('}');
    let letters: Vec<char> = password.chars().filter(|_| !is_variable).collect();
    let runs = letters.windows(RUN_MAX + 1).map(|run| run.iter().collect::<String>());
    runs.filter(|run| run.contains(LETTERS)).collect()
}

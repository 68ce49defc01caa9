//! No error or debug form of a plan shows a byte run of a password.

use miette::Diagnostic as _;
use proptest::prelude::*;

use crate::experiment::load;
use crate::overrides::Overrides;
use crate::tests::sample::{FILE, MACHINE, TestCatalog};

/// Longest run of a password that an error may show by chance.
const RUN_MAX: usize = 3;

/// Each password is at every n-th place, so that about 32 of 256 are at each.
const NTH: usize = 8;

/// Entries of a variant with a `dsn`, all but the first with an error.
///
/// `DSN` stands for the quoted address.
const AT_DSN: &[&str] = &[
    "engine = \"pg\"\ndsn = DSN",
    "engine = \"pg\"\ndsn = DSN\ncash = 1",
    "engine = \"pg\"\ndsn = DSN\ncache = \"1GiB\"",
    "engine = \"pg@15\"\ndsn = DSN",
    "engine = \"my\"\ndsn = DSN",
    "engine = \"tree\"\ndsn = DSN",
    "engine = \"pg\"\ndsn = [DSN]",
    "engine = \"pg\"\ndsn = DSN x",
    "engine = \"pg\"\ncash = 1\n# dsn = DSN",
    "engine = \"pg\"\ndsn = \"\"\"DSN",
    "engine = \"pg\"\ndsn = 'DSN",
];

/// Entries with an address at the wrong place.
const ELSEWHERE: &[&str] = &[
    "engine = \"pg\"\ndsn = { url = DSN }",
    "engine = \"pg\"\n[variant.options]\ndsn = DSN",
    "engine = DSN",
    "engine = \"tree\"\nprofile = DSN",
    "engine = \"tree\"\nDSN = 1",
];

/// Forms of an address; `PW` stands for the password.
const ADDRESSES: &[&str] = &[
    "postgres://me:PW@db/x",
    "postgres://me:PW@db",
    "postgres://me:PW@db:99999/x",
    "postgres://me:PW@/x",
    "postgres://me:PW@db/x?sslmode=require",
    "postgres://:PW@db/x",
    "postgres://me:PW@db1,db2/x?sslmod=1",
];

/// Texts that are known as addresses, to their end, only where one is expected.
const NO_ADDRESSES: &[&str] = &[
    "oracle://me:PW@db/x",
    "me:PW@db/x",
    "postgres:me:PW@db/x",
    "postgres://db/x?user=me&password=PW",
    "postgres://db/x?user=me&password=PW&sslmode=1",
    "jdbc:postgresql://db/x?user=me&password=PW",
    "host=db user=me password='PW' dbname=x",
    "DATABASE_URL=postgres://me:PW@db/x",
    "psql postgres://me:PW@db/x",
    "mysql -h db -u me -pPW x",
    "me:PW@tcp(db:3306)/x",
];

/// Returns everything that a file displays: its error, or the debug form of what is right; and
/// whether it is right.
fn displayed(text: &str) -> (String, bool) {
    let checked =
        load("sample.toml", text, &Overrides::default(), &TestCatalog::default(), MACHINE);
    let error = match checked {
        Ok(checked) => return (format!("{checked:?}"), true),
        Err(error) => error,
    };
    let mut shown = String::new();
    let related = error.related().into_iter().flatten();
    for one in std::iter::once(&error as &dyn miette::Diagnostic).chain(related) {
        shown += &format!("{one}\n{}\n", one.help().map(|it| it.to_string()).unwrap_or_default());
        for label in one.labels().into_iter().flatten() {
            let code = one.source_code().expect("a label has a source");
            let excerpt = code.read_span(label.inner(), 100, 100).expect("a place of the file");
            shown += &String::from_utf8_lossy(excerpt.data());
        }
    }
    (shown + &format!("{:?}", miette::Report::new(error)), false)
}

/// Returns the runs of a password that are too long to be shown.
fn runs(password: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = password.chars().collect();
    let runs: Vec<String> = letters.windows(RUN_MAX + 1).map(|run| run.iter().collect()).collect();
    runs.into_iter()
}

/// Returns each place of a file with each text that is an address there.
fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let files = AT_DSN.iter().chain(ELSEWHERE);
    let right = files.flat_map(|it| ADDRESSES.iter().map(move |to| (*it, *to)));
    let wrong = AT_DSN.iter().flat_map(|it| NO_ADDRESSES.iter().map(move |to| (*it, *to)));
    right.chain(wrong)
}

/// Checks that nothing displayed of a file has a run of the password of its address.
fn check(file: &str, address: &str, password: &str, is_literal: bool) -> Result<(), String> {
    let mut runs = runs(password).filter(|run| run.contains(['Q', 'X', 'Z', 'J']));
    let dsn = address.replace("PW", password);
    let is_plain = file.contains("\"\"\"DSN") || file.contains("'DSN");
    let quoted = match is_literal && !dsn.contains('\'') {
        _ if is_plain => dsn,
        true => format!("'{dsn}'"),
        false => format!("\"{}\"", dsn.replace('"', "\\\"")),
    };
    let text = FILE.replacen("engine = \"tree\"", &file.replace("DSN", &quoted), 1);
    let (shown, is_right) = displayed(&text);
    if is_plain && is_right {
        // A quote of the password ended the address, and a comment followed: by itself, the rest
        // is an address whose host is not a secret.
        return Ok(());
    }
    let found = runs.find(|run| shown.contains(run));
    found.map_or(Ok(()), |run| Err(format!("{text}\nshows {run:?}:\n{shown}")))
}

#[test]
fn a_quote_of_a_password_shows_nothing_of_it() {
    for password in
        ["@ZZXX'#", "a@ZZXX'#", "@ZZ/d?ZZXX=1'#", "@ZZXX/d?ZZXX=1'#", "@h:ZZXX'#", "//ZZXX"]
    {
        for (file, address) in cases() {
            check(file, address, password, true).unwrap_or_else(|why| panic!("{why}"));
        }
    }
}

proptest! {
    /// Goal: no byte run of a password of 4 or more is in any message, remedy or excerpt.
    /// Method: passwords of letters that no message has, with quotes, spaces, signs of addresses
    /// and of TOML; each form of an address at each place, quoted in either way. Each password is
    /// tried in an eighth of them, so that many passwords are tried.
    #[test]
    fn no_error_shows_a_run_of_a_password(
        password in "[QXZJ\"'% @:/?#\\[\\]{}=&,äß中-]{0,6}[QXZJ]{4,8}[QXZJ\"'% @:/?#äß中]{0,12}",
        is_literal: bool,
        first in 0..NTH,
    ) {
        for (file, address) in cases().skip(first).step_by(NTH) {
            check(file, address, &password, is_literal).map_err(TestCaseError::fail)?;
        }
    }
}

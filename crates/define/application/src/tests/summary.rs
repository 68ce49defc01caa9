//! Summaries of applications, for snapshots.

use model::sql::{CallMix, Draw, Part, Procedure, Statement, Table};
use model::{Application, Dialect};

/// Returns a statement with its placeholders in angle brackets; long lists are shortened.
pub(super) fn statement_text(statement: &Statement) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Table => "<table>".to_owned(),
        Part::OtherTable(position) => format!("<table {position}>"),
        Part::Argument(position) => format!("<{position}>"),
        Part::RowArgument(position) => format!("<row {position}>"),
        Part::Rows(row) => {
            let row = Statement { parts: row.clone(), ..Statement::default() };
            format!("<rows of {}>", statement_text(&row))
        }
    };
    let text: String = statement.parts.iter().map(part).collect();
    let text = statement
        .conditions
        .iter()
        .rev()
        .fold(text, |text, condition| format!("if {condition:?}: {text}"));
    let text = match statement.reads.as_slice() {
        [] => text,
        reads => {
            let read: Vec<_> = reads.iter().map(|read| format!("<{}>", read.argument)).collect();
            format!("{text} into {}", read.join(" "))
        }
    };
    let short = |text: String, last: usize| {
        let list: Vec<_> = (0..=last).map(|place| format!("<{place}>")).collect();
        text.replace(&list.join(", "), &format!("<0> to <{last}>"))
    };
    [99, 9].into_iter().fold(text, short)
}

fn draw(draw: &Draw) -> String {
    match draw {
        Draw::Integer { distribution, from, count } => format!("{distribution} {from} + {count}"),
        Draw::Real { below, plus, scale } => format!("(0..{below} + {plus:?}) * {scale}"),
        Draw::Payload { bytes_min, bytes_max, random } => {
            format!("{bytes_min}..{bytes_max} bytes, {random} random")
        }
        Draw::Pattern(pattern) => format!("pattern of {}", pattern.len()),
        Draw::Moment { calls_per_second } => format!("moment {calls_per_second}"),
        Draw::Id => "id".to_owned(),
        Draw::FirstId => "first id".to_owned(),
        Draw::Number => "number".to_owned(),
        Draw::Nurand { a, c, from, count } => format!("nurand({a}) + {c}, {from} + {count}"),
        Draw::Syllables { of, .. } => format!("syllables of {of}"),
        Draw::Chance(_) | Draw::Part { .. } | Draw::Other { .. } | Draw::Read(_) => {
            format!("{draw:?}")
        }
    }
}

/// Returns draws in a line; equal neighbours are counted.
fn draws(draws: &[Draw]) -> String {
    if let [first, .., last] = draws
        && draws.len() > 50
        && first != last
    {
        return format!("{}; {} more; {}", draw(first), draws.len() - 2, draw(last));
    }
    let chunks = draws.chunk_by(|one, next| one == next);
    let one = |alike: &[Draw]| match alike {
        [exclusive_call] => draw(exclusive_call),
        [first, ..] => format!("{} x {}", alike.len(), draw(first)),
        [] => String::new(),
    };
    chunks.map(one).collect::<Vec<_>>().join("; ")
}

fn procedure(known: &Procedure, tables: &[Table]) -> Vec<String> {
    let table = &tables[usize::from(known.table)].name;
    let transaction = if known.is_transaction { ", a transaction" } else { "" };
    let protocol = match (known.protocol.postgres, known.protocol.mysql) {
        (None, None) => String::new(),
        (postgres, mysql) => format!(", sent as {postgres:?} and {mysql:?}"),
    };
    let mut lines = vec![format!(
        "{} {} of {table}, {} rows, returns {:?}{transaction}{protocol}",
        known.kind, known.name, known.rows, known.rows_expected
    )];
    if !known.arguments.is_empty() {
        lines.push(format!("  once {}", draws(&known.arguments)));
    }
    if !known.row.is_empty() {
        lines.push(format!("  row  {}", draws(&known.row)));
    }
    let texts =
        |dialect| known.statements.by(dialect).iter().map(statement_text).collect::<Vec<_>>();
    let (postgres, mysql) = (texts(Dialect::Postgres), texts(Dialect::Mysql));
    if postgres == mysql {
        lines.extend(postgres.iter().map(|text| format!("  both {text}")));
    } else {
        lines.extend(postgres.iter().map(|text| format!("  post {text}")));
        lines.extend(mysql.iter().map(|text| format!("  my   {text}")));
    }
    let myrocks = known.myrocks.iter().map(statement_text);
    lines.extend(myrocks.map(|text| format!("  rock {text}")));
    lines
}

/// Returns an application in lines: tables, procedures, steps with their calls by three clients.
pub(super) fn summary(application: &Application, rows: u64) -> String {
    let mut lines = vec![format!("{}: {}", application.name, application.about)];
    for table in &application.tables {
        lines.push(format!("table {} {:?} id {:?}", table.name, table.copies, table.id));
        lines.extend(
            table.create.postgres.iter().map(|one| format!("  post {}", statement_text(one))),
        );
        lines
            .extend(table.create.mysql.iter().map(|one| format!("  my   {}", statement_text(one))));
    }
    let procedures = application.procedures.iter();
    lines.extend(procedures.flat_map(|known| procedure(known, &application.tables)));
    let name = |position: &u16| application.procedures[usize::from(*position)].name.clone();
    let call_mix = |call_mix: &CallMix| match call_mix {
        CallMix::Mix(weights) => {
            let one = |(position, weight): &(u16, u32)| format!("{} x{weight}", name(position));
            weights.iter().map(one).collect::<Vec<_>>().join(" or ")
        }
        CallMix::InTurn(list) => list.iter().map(name).collect::<Vec<_>>().join(" then "),
        CallMix::Once(list) => {
            format!("once {}", list.iter().map(name).collect::<Vec<_>>().join(" then "))
        }
    };
    for step in &application.steps {
        let clients = step.clients.as_ref().map_or_else(|| "nothing".to_owned(), call_mix);
        let background = step.background.as_ref().map_or(String::new(), |background| {
            let (mix, apart) = (call_mix(&background.call_mix), background.connections);
            format!(" with {mix} at {}/s on {apart} connection", background.rows_per_s)
        });
        let apart = if step.connections.is_one() { "" } else { " on own connections" };
        let hold =
            step.hold.map_or(String::new(), |hold| format!(", holds {}", name(&hold.procedure)));
        let calls = application.calls(step, rows, 3);
        let settles = if step.settles { ", settles" } else { "" };
        lines.push(format!(
            "step {} {:?} {:?}: {clients}{apart}{background}, calls {calls:?}{hold}{settles}",
            step.name, step.role, step.unit
        ));
    }
    lines.push(format!("order {}", application.order.join(" ")));
    lines.join("\n")
}

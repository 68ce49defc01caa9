//! What stores lost in simulated crashes, in every format.

use std::collections::BTreeSet;

use analysis::{CutSummary, Lost, SmallestLoss, cut_summary, smallest_loss};
use model::{
    AfterCut, CutCampaign, CutFault, CutFileSystem, CutKind, CutLevel, CutRecord, Forgotten,
    Settings, ShellCommand, Survivors, Unit, Variant, float,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::comparison::Section;
use crate::document::{Document, Part, Rows, Table};
use crate::figure::{count, figure, limits, percent};
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::report::Report;

/// Columns of the CSV format.
const CSV: &str = "variant,engine,claimed,level,file_system,survivors,strict,fault,clients,seed,\
                   cuts,losing,refused,lacking,gaps,torn,resurrected,never_written,\
                   longest_window_ns,median_window_ns,median_window_low_ns,median_window_high_ns,\
                   recovery_ns,breaks_claim";

/// States when a loss happened that the first recovery did not show.
const AGAIN: &str = "the first recovery found every write; the power failed again right after it";

/// The campaigns of a command or an experiment.
pub struct CutReport<'a> {
    /// The campaigns, in the order of variants and levels.
    pub campaigns: &'a [CutCampaign],
    /// The variants that were cut.
    pub variants: &'a [Variant],
}

impl Report for CutReport<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        let mut document = Document::default();
        let mut table = Table::new(["variant", "<engine", "<claims", "<result", "opens in"]);
        for campaign in self.campaigns {
            let summary = cut_summary(campaign);
            table.push([
                campaign.variant.clone(),
                campaign.engine.clone(),
                campaign.claimed.to_string(),
                sentence(&summary),
                summary.recovery.map(span).unwrap_or_default(),
            ]);
        }
        document.add([Part::Table(table.broken(3))]);
        let broken = self.campaigns.iter().filter(|it| it.breaks_claim());
        let mut broken: Vec<_> = broken.map(broken_claim).collect();
        // The levels of a variant follow one another at a distance.
        let mut stated = BTreeSet::new();
        broken.retain(|claim| stated.insert(claim.clone()));
        document.add(broken.into_iter().map(Part::Strong));
        for campaign in self.campaigns {
            document.add(self.smallest_loss(campaign));
        }
        document.add(calibration(self.campaigns));
        document
    }

    fn rows(&self) -> Option<Rows> {
        Some(Rows::of(CSV.split(','), self.campaigns.iter().map(fields)))
    }

    fn data(&self) -> impl Serialize {
        let campaigns = self.campaigns.iter();
        let campaigns = campaigns.map(|it| json!({ "campaign": it, "summary": cut_summary(it) }));
        json!({ "campaigns": campaigns.collect::<Vec<_>>() })
    }
}

impl CutReport<'_> {
    /// Returns the smallest loss of a campaign with its cause and the command that repeats it.
    fn smallest_loss(&self, campaign: &CutCampaign) -> Vec<Part> {
        let Some(cut) = smallest_loss(campaign) else { return Vec::new() };
        let title =
            format!("{}, {}: cut {}", campaign.variant, imitated(campaign.kind), cut.number);
        let mut sentences = vec![lost_in(cut)];
        sentences.extend(cut.is_after_recovery.then(|| AGAIN.to_owned()));
        sentences.extend(example(cut));
        sentences.extend(cut.forgotten.iter().map(forgotten));
        let mut parts = vec![Part::title(title), Part::Sentences(sentences)];
        let variant = self.variants.iter().find(|it| it.name == campaign.variant);
        if let Some(command) = variant.and_then(|it| repeat(&cut_summary(campaign), it)) {
            parts.push(Part::Text("This command makes the cut again:".to_owned()));
            parts.push(Part::Verbatim(command.to_string()));
        }
        parts
    }
}

/// Returns the result of a campaign in a sentence: `power cuts: 0 of 100 lost a write (< 3 %)`.
pub(crate) fn sentence(summary: &CutSummary) -> String {
    let CutSummary { cuts, lacking, refused, gaps, .. } = summary;
    // The cuts after which the store did not open follow.
    let losing = if summary.lost == Lost::Damage { &summary.losing } else { lacking };
    let what = match &summary.lost {
        Lost::Nothing { below } => format!("lost a write (< {})", percent(*below)),
        Lost::Everything if summary.kind.file_system == Some(CutFileSystem::Ext4Nobarrier) => {
            "lost everything: the file system flushes no disk".to_owned()
        }
        Lost::Everything if summary.kind.level == CutLevel::Process => {
            "lost everything that the process had in memory: the engine sets no limit".to_owned()
        }
        Lost::Everything => "lost everything since the last sync: the engine sets no limit, the \
                             kernel writes back after 30 s"
            .to_owned(),
        Lost::Damage => "left a damaged store".to_owned(),
        Lost::Window { longest, median, .. } => {
            let median = median.map(|it| {
                let within = limits(span(it.low), span(it.high));
                format!(", in the median {} {within}", span(it.value))
            });
            format!("lost up to {longest} of writes{}", median.unwrap_or_default())
        }
    };
    let counted = |count: usize, text: &str| (count > 0).then(|| format!("{count} {text}"));
    let more = [
        counted(*refused, "did not open"),
        counted(*gaps, "lost a write before one that survived"),
        counted(summary.torn, "had damaged values"),
        counted(summary.resurrected, "had deleted rows again"),
        counted(summary.never_written, "had values that no client wrote"),
    ];
    let more: String = more.into_iter().flatten().map(|text| format!("; {text}")).collect();
    format!("{}: {losing} of {cuts} {what}{more}", imitated(summary.kind))
}

/// Returns what cuts imitate.
fn imitated(kind: CutKind) -> String {
    let survivors = match kind.survivors {
        Survivors::Nothing => "",
        Survivors::Half => ", half of the unsynced pages survive",
        Survivors::Everything => ", all unsynced pages survive",
    };
    let strict = if kind.is_strict { ", strict directories" } else { "" };
    let below = kind.file_system.map(|one| format!(" below {one}")).unwrap_or_default();
    let fault = kind.fault.map_or("", |fault| match fault {
        CutFault::Fsync => ", one fsync failed",
    });
    format!("{}{below}{survivors}{strict}{fault}", kind.level.imitates())
}

/// Returns that a class was claimed and not had.
fn broken_claim(campaign: &CutCampaign) -> String {
    let CutCampaign { variant, claimed, .. } = campaign;
    let guarantee = claimed.guarantee();
    format!("{variant} claims the class {claimed} ({guarantee}) and does not have it")
}

fn lost_in(cut: &CutRecord) -> String {
    let syncs = cut.syncs.map(|it| format!(" and {}", counted(it, "sync", "syncs")));
    let acknowledged = counted(cut.acknowledged, "acknowledged write", "acknowledged writes");
    let after = format!("after {} with {acknowledged}{}", cut.load, syncs.unwrap_or_default());
    match &cut.after {
        AfterCut::Refused { reason } => format!("the store did not open {after}: {reason}"),
        AfterCut::Opened { losses, .. } => {
            let window = losses.window.map(|window| format!(", the oldest {window} old"));
            let lost = counted(losses.lost, "write was", "writes were");
            format!("{lost} lost{} {after}", window.unwrap_or_default())
        }
    }
}

/// Returns a count with its noun: `1,200 writes`.
fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

fn example(cut: &CutRecord) -> Option<String> {
    cut.losses()?.example.clone()
}

/// Returns a forgotten change with the sync that is missing.
fn forgotten(change: &Forgotten) -> String {
    let Forgotten { path, what, offset, bytes } = change;
    match (offset, bytes) {
        (Some(offset), Some(bytes)) => {
            let bytes = figure(Unit::Bytes, float(*bytes));
            format!("not synced: {bytes} of {what} of {path}, from byte {offset}")
        }
        _ => format!("not synced: {what}, {path}"),
    }
}

/// Returns how the known stores behaved.
fn calibration(campaigns: &[CutCampaign]) -> Vec<Part> {
    let mut lines: Vec<String> = Vec::new();
    for campaign in campaigns {
        let known = |loses: bool| {
            let known = campaign.calibrators.iter().filter(|it| it.loses == loses);
            let known = known.map(|it| format!("{} ({} of {} cuts)", it.store, it.losing, it.cuts));
            known.collect::<Vec<_>>().join(", ")
        };
        if !campaign.calibrators.is_empty() {
            let cuts = campaign.kind.level.imitates();
            lines.push(format!("{cuts}: known to lose writes, and did: {}", known(true)));
            lines.push(format!("{cuts}: known to lose none, and did not: {}", known(false)));
        }
    }
    let lines = lines.iter().enumerate().filter(|(at, line)| !lines[..*at].contains(line));
    let lines: Vec<_> = lines.map(|(_, line)| line.clone()).collect();
    Part::title("Calibration").above([Part::Items(lines)])
}

/// Returns the command that makes the smallest loss again; `None` without a loss, or where the
/// variant has settings that the command lacks.
fn repeat(summary: &CutSummary, variant: &Variant) -> Option<ShellCommand> {
    let SmallestLoss { cut, seed, clients } = summary.smallest?;
    let CutSummary { kind, claimed, .. } = summary;
    let Variant { build, options, settings, .. } = variant;
    if *settings != (Settings { durability: *claimed, ..Settings::default() }) {
        return None;
    }
    let mut command = ShellCommand::of("assay durability")
        .option("--engine", &build.to_string())
        .option("--durability", claimed.name());
    for (name, value) in options.iter() {
        command = command.option("--option", &format!("{name}={value}"));
    }
    if clients > 1 {
        command = command.option("--clients", &clients.to_string());
    }
    if kind.survivors != Survivors::Nothing {
        command = command.option("--survivors", kind.survivors.name());
    }
    if kind.is_strict {
        command = command.flag("--strict");
    }
    if let Some(fault) = kind.fault {
        command = command.option("--fault", fault.name());
    }
    if let Some(one) = kind.file_system {
        command = command.option("--file-system", one.name());
    }
    Some(
        command
            .option("--level", kind.level.name())
            .option("--seed", &seed.to_string())
            .option("--cut", &cut.to_string()),
    )
}

/// Returns what the variants of a comparison lost in simulated crashes.
pub(crate) fn section(compared: &Compared<'_>) -> Option<Section> {
    let sentence =
        |it: &CutSummary| format!("{} claims {}; {}", it.variant, it.claimed, sentence(it));
    let sentences: Vec<_> = compared.comparison.cuts.iter().map(sentence).collect();
    let title = "What survives a crash".to_owned();
    let cuts = compared.comparison.cuts.iter();
    let commands = cuts.filter_map(|it| repeat(it, compared.variant(&it.variant)?));
    let commands: Vec<_> = commands.map(|it| it.to_string()).collect();
    let again =
        (!commands.is_empty()).then(|| "These commands make the smallest losses again:".to_owned());
    let remarks = again.into_iter().collect();
    (!sentences.is_empty()).then(|| Section {
        title,
        sentences,
        remarks,
        commands,
        ..Section::default()
    })
}

fn span(ns: f64) -> String {
    figure(Unit::Nanos, ns)
}

fn fields(campaign: &CutCampaign) -> Value {
    let summary = cut_summary(campaign);
    let (longest, median) = match &summary.lost {
        Lost::Window { longest, median, .. } => (Some(longest.0), *median),
        Lost::Nothing { .. } | Lost::Everything | Lost::Damage => (None, None),
    };
    json!({
        "variant": campaign.variant,
        "engine": campaign.engine,
        "claimed": campaign.claimed,
        "level": campaign.kind.level,
        "file_system": campaign.kind.file_system,
        "survivors": campaign.kind.survivors,
        "strict": campaign.kind.is_strict,
        "fault": campaign.kind.fault,
        "clients": campaign.clients,
        "seed": campaign.seed,
        "cuts": summary.cuts,
        "losing": summary.losing,
        "refused": summary.refused,
        "lacking": summary.lacking,
        "gaps": summary.gaps,
        "torn": summary.torn,
        "resurrected": summary.resurrected,
        "never_written": summary.never_written,
        "longest_window_ns": longest,
        "median_window_ns": median.map(|it| it.value),
        "median_window_low_ns": median.map(|it| it.low),
        "median_window_high_ns": median.map(|it| it.high),
        "recovery_ns": summary.recovery,
        "breaks_claim": summary.breaks_claim,
    })
}

#[cfg(test)]
mod tests {
    use model::{Durability, Losses, Nanos};

    use super::*;

    fn opened(losses: Losses) -> AfterCut {
        AfterCut::Opened { recovery: Nanos(1), losses }
    }

    fn lost(count: u64, is_everything: bool) -> AfterCut {
        let window = Some(Nanos::from_millis(count));
        opened(Losses { lost: count, window, is_everything, ..Losses::default() })
    }

    fn refused() -> AfterCut {
        AfterCut::Refused { reason: "a checksum is wrong".to_owned() }
    }

    fn campaign(level: CutLevel, after: &[AfterCut]) -> CutCampaign {
        let cut = |(number, after): (u32, &AfterCut)| CutRecord {
            number,
            load: Nanos::from_millis(300),
            acknowledged: 1_234,
            syncs: Some(1),
            after: after.clone(),
            is_after_recovery: false,
            forgotten: Vec::new(),
        };
        CutCampaign {
            variant: "a".to_owned(),
            engine: "a 1".to_owned(),
            claimed: Durability::Sync,
            kind: CutKind::at(level),
            clients: 1,
            seed: 1,
            cuts: (0..).zip(after).map(cut).collect(),
            calibrators: Vec::new(),
        }
    }

    /// Goal: each number of the sentence counts what follows it, and no other cuts.
    #[test]
    fn sentence_counts_lost_writes_damage_and_refusals_apart() {
        let torn = opened(Losses { torn: 2, ..Losses::default() });
        for (level, after, expected) in [
            (
                CutLevel::File,
                vec![lost(20, false), refused(), refused(), torn.clone()],
                "power cuts: 1 of 4 lost up to 20.0 ms of writes; 2 did not open; 1 had damaged \
                 values",
            ),
            (
                CutLevel::File,
                vec![torn, refused(), opened(Losses::default())],
                "power cuts: 2 of 3 left a damaged store; 1 did not open; 1 had damaged values",
            ),
            (
                CutLevel::Process,
                vec![lost(300, true), lost(200, true)],
                "process kills: 2 of 2 lost everything that the process had in memory: the engine \
                 sets no limit",
            ),
        ] {
            assert_eq!(sentence(&cut_summary(&campaign(level, &after))), expected);
        }
    }

    #[test]
    fn one_loss_is_singular_and_a_broken_claim_is_stated_once() {
        let lost = [lost(1, false)];
        let campaigns = [CutLevel::Process, CutLevel::File].map(|level| campaign(level, &lost));
        let report = CutReport { campaigns: &campaigns, variants: &[] };
        let csv = report.render(Format::Csv, Style::default());
        let row = "a,a 1,sync,process,,nothing,false,,1,1,1,1,0,1,";
        assert!(csv.lines().nth(1).is_some_and(|line| line.starts_with(row)), "{csv}");
        let text = report.render(Format::Text, Style::default());
        let sentence = "1 write was lost, the oldest 1.00 ms old after 300 ms with 1,234 \
                        acknowledged writes and 1 sync";
        assert!(text.contains(sentence), "{text}");
        assert_eq!(text.matches("does not have it").count(), 1, "{text}");
    }
}

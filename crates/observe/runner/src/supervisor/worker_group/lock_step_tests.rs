use fold::KindTally;
use model::{Nanos, OpKind, Readings, TableReadings};

use super::*;
use crate::tally::times;

/// Position of the shared step.
const SHARED: u32 = 1;

fn two() -> LockStep {
    LockStep::new(&["c1".to_owned(), "c2".to_owned()], [SHARED].into())
}

/// Describes what follows from a message, by the names of the messages passed on.
fn follow(group: &mut LockStep, worker: usize, message: Message) -> Vec<String> {
    group.add(worker, message).unwrap().iter().map(describe).collect()
}

fn describe(act: &Act) -> String {
    match act {
        Act::Emit(Merged { message, is_of_all }) => {
            let text = serde_json::to_value(message).unwrap()["type"].to_string();
            format!("{}{}", text.trim_matches('"'), if *is_of_all { " of all" } else { "" })
        }
        Act::Go(worker) => format!("go {worker}"),
        Act::Join(data_set) => format!("join {}", data_set.as_deref().unwrap_or_default()),
        Act::Start(workers) => format!("start {workers:?}"),
        Act::Compare => "compare".to_owned(),
        Act::Stop => "stop".to_owned(),
        Act::Dismiss => "dismiss".to_owned(),
    }
}

fn opened(data_set: &str) -> Message {
    Message::Opened(Box::new(Opened {
        identity: model::Identity::default(),
        effective_options: model::Options::new(),
        durability: Box::default(),
        keep: Vec::new(),
        immutable: Vec::new(),
        data_set: Some(data_set.to_owned()),
    }))
}

/// Returns a second in which reads of this response time were done.
fn second(done: u64) -> Message {
    let mut tally = KindTally::default();
    tally.counts.done = done;
    tally.response.record_n(1_000, done).unwrap();
    tally.service.record_n(1_000, done).unwrap();
    Message::Interval(Box::new(IntervalMessage {
        probe: None,
        is_warmup: false,
        start: Nanos(0),
        length: Nanos::SECOND,
        clients: times(&[(OpKind::Get, tally)].into()),
        writers: Vec::new(),
        start_lag: None,
        backlog: Nanos(0),
        growth: Readings::new(),
        engine: Readings::new(),
        tables: TableReadings::new(),
        spanning: Vec::new(),
        decoded: None,
    }))
}

fn ends(end: StepEnd) -> Message {
    Message::StepEnds(Box::new(StepEnds::without_clients(SHARED, end)))
}

fn begins() -> Message {
    Message::MeasuringBegins { before: Box::default(), is_patient: false }
}

const fn closed(is_sound: bool) -> Message {
    let clock = ClockRecord { source: String::new(), drift_ppm: None, is_sound };
    Message::Closed { clock }
}

/// Opens both workers, and begins the shared step.
fn begun() -> LockStep {
    let mut group = two();
    assert_eq!(follow(&mut group, 0, opened("token")), ["join token"]);
    assert_eq!(follow(&mut group, 1, opened("token")), ["opened", "go 0", "go 1"]);
    assert_eq!(follow(&mut group, 0, Message::StepBegins { index: SHARED }), ["go 1"]);
    assert_eq!(follow(&mut group, 1, Message::StepBegins { index: SHARED }), ["step_begins"]);
    group
}

#[test]
fn messages_of_a_shared_step_wait_for_all_workers() {
    let mut group = begun();
    let none: [&str; 0] = [];
    assert_eq!(follow(&mut group, 0, begins()), none);
    assert_eq!(follow(&mut group, 1, begins()), ["measuring_begins of all"]);
    assert_eq!(follow(&mut group, 1, Message::Ready), none);
    assert_eq!(follow(&mut group, 0, Message::Ready), ["start [0, 1]"]);
    assert_eq!(follow(&mut group, 0, Message::IntervalEnds), none);
    assert_eq!(follow(&mut group, 0, second(3)), none);
    assert_eq!(follow(&mut group, 1, Message::IntervalEnds), ["interval_ends"]);
    assert_eq!(follow(&mut group, 1, second(4)), ["interval"]);
    assert_eq!(follow(&mut group, 0, Message::Heartbeat { operations: 5 }), ["heartbeat"]);
}

#[test]
fn a_step_ends_after_the_clients_of_all_workers() {
    let mut group = begun();
    let none: [&str; 0] = [];
    let stage = || Message::stage("analyze");
    assert_eq!(follow(&mut group, 0, stage()), ["stage"]);
    assert_eq!(follow(&mut group, 1, stage()), none);
    // The settle begins after the clients of all, and is the first worker's alone.
    assert_eq!(follow(&mut group, 0, Message::SettleBegins { after: Box::default() }), none);
    assert_eq!(follow(&mut group, 1, ends(StepEnd::Finished)), ["compare", "settle_begins"]);
    assert_eq!(follow(&mut group, 0, ends(StepEnd::Finished)), ["step_ends of all"]);
    assert_eq!(follow(&mut group, 1, closed(false)), none);
    let all = group.add(0, closed(true)).unwrap();
    let [Act::Emit(Merged { message, .. })] = &all[..] else { panic!("{all:?}") };
    let Message::Closed { clock } = &**message else { panic!("{message:?}") };
    assert!(!clock.is_sound, "the clock of one host drifted");
}

/// Goal: no operation is lost where clients end in different seconds.
#[test]
fn seconds_that_one_worker_lacks_are_those_of_the_others() {
    let mut group = begun();
    let mut done = 0;
    let mut count = |acts: Vec<Act>| {
        for act in acts {
            if let Act::Emit(Merged { message, .. }) = act
                && let Message::Interval(interval) = *message
            {
                let times = interval.decoded.unwrap();
                done += times.groups.clients[&OpKind::Get].counts.done;
            }
        }
    };
    count(group.add(0, second(3)).unwrap());
    count(group.add(0, second(5)).unwrap());
    count(group.add(1, second(7)).unwrap());
    count(group.add(1, ends(StepEnd::Finished)).unwrap());
    count(group.add(0, second(11)).unwrap());
    count(group.add(0, ends(StepEnd::Finished)).unwrap());
    assert_eq!(done, 26);
}

#[test]
fn a_failed_worker_stops_the_others_and_none_of_them_waits_for_it() {
    let mut group = begun();
    let none: [&str; 0] = [];
    assert_eq!(follow(&mut group, 0, begins()), none);
    let failed = StepEnd::Failed { reason: "no session".to_owned() };
    assert_eq!(follow(&mut group, 1, ends(failed)), ["stop", "measuring_begins of all"]);
    assert_eq!(follow(&mut group, 0, Message::Ready), ["start [0]"]);
    let acts = group.add(0, ends(StepEnd::Stopped)).unwrap();
    let Some(Act::Emit(Merged { message, .. })) = acts.last() else { panic!("{acts:?}") };
    let Message::StepEnds(ends) = &**message else { panic!("{message:?}") };
    let reason = "client host c2: no session".to_owned();
    assert_eq!(ends.end, StepEnd::Failed { reason });
    assert_eq!(follow(&mut group, 0, closed(true)), ["dismiss"]);
    let last: Vec<_> = group.dismiss().iter().map(describe).collect();
    assert_eq!((last, group.is_closed(1)), (vec!["closed".to_owned()], true));
}

#[test]
fn the_first_worker_alone_runs_other_steps() {
    let mut group = begun();
    assert_eq!(follow(&mut group, 0, Message::StepBegins { index: 2 }), ["step_begins"]);
    assert_eq!(follow(&mut group, 0, begins()), ["measuring_begins"]);
    assert_eq!(follow(&mut group, 0, second(1)), ["interval"]);
    let reason = group.add(1, Message::StepBegins { index: 2 }).unwrap_err();
    assert_eq!(reason, "client host c2 began step 2 out of order");
    let mut alone = LockStep::new(&["c1".to_owned()], [SHARED].into());
    assert_eq!(follow(&mut alone, 0, opened("token")), ["opened"]);
    let step = Message::StepBegins { index: SHARED };
    assert_eq!(follow(&mut alone, 0, step), ["step_begins"]);
    assert_eq!(follow(&mut alone, 0, begins()), ["measuring_begins"]);
    assert_eq!(follow(&mut alone, 0, closed(true)), ["closed"]);
}

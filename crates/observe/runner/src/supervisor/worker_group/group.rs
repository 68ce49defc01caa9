//! The workers of one run on several machines, as one worker.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use engine::DATA_SET_FILE;
use load::{Clock as _, SteadyClock};
use model::client_host::{ClientHost, ClockOffset, HostClock};
use model::{CpuCount, Experiment, Nanos};

use super::clocks::{HostClocks, there};
use super::connection::{Arrival, Connection, show_life};
use super::lock_step::{Act, LockStep, Merged};
use crate::message::{Command, Membership, Message, Order};
use crate::supervisor::workbench::ClientHosts;

/// Messages that may wait unread, as of workers for a minute; then all connections wait.
const MESSAGES_MAX: usize = 512;
/// Longest silence of a worker, which answers each second. Our choice: eight answers.
const SILENT_MAX: Nanos = Nanos::from_secs(8);
/// Time between two comparisons of the clocks while clients run.
const PING_EVERY: Nanos = Nanos::SECOND;
/// Exchanges of which the shortest counts, before and after the clients run.
const EXCHANGES: u32 = 16;
/// Longest wait for the answers of one exchange.
const EXCHANGE_MAX: Nanos = Nanos::SECOND;
/// Time after which no further exchange begins: hosts may be far away.
const COMPARE_MAX: Nanos = Nanos::from_secs(2);
/// Time from the order to start until the clients begin, beyond eight times the error of the
/// clocks. Our choice: an order that comes later fails its run, and all hosts between may be busy.
const START_DELAY: Nanos = Nanos::SECOND;
/// Time that the connections have to end.
const END_GRACE: Duration = Duration::from_secs(5);

/// A client host that is lost.
pub(crate) struct Lost {
    /// Its name.
    pub(crate) host: String,
    /// What is known.
    pub(crate) reason: String,
}

/// An event of a group.
pub(crate) enum GroupEvent {
    /// A message, as of one worker.
    Message(Box<Message>),
    /// Nothing for the supervisor.
    Silence,
    /// The messages cannot be trusted.
    Broken(String),
    /// A machine is lost.
    Lost(Lost),
    /// All connections have ended.
    End,
}

/// The workers of one run.
pub(crate) struct WorkerGroup<'a> {
    hosts: &'a dyn ClientHosts,
    clock: &'a SteadyClock,
    connections: Vec<Connection>,
    has_ended: Vec<bool>,
    events: Receiver<Arrival>,
    /// What came while clocks were compared.
    later: VecDeque<Arrival>,
    lock_step: LockStep,
    merged: VecDeque<Merged>,
    member: Membership,
    order: Option<Box<Order>>,
    /// The next `Go` is for all workers.
    is_reply_of_all: bool,
    clocks: Vec<HostClocks>,
    /// Workers that have sent a message: until then, ssh may send the program.
    has_begun: Vec<bool>,
    pinged: Nanos,
    number: u64,
    client_hosts: Vec<ClientHost>,
    /// The run is over: the end of a connection is no loss.
    is_over: bool,
    /// Time in which clocks were compared, and nothing was passed on.
    compared: Nanos,
    /// Its end stops the signs of life.
    _life: SyncSender<()>,
}

impl<'a> WorkerGroup<'a> {
    /// Starts a worker on each client host of an experiment, for a cell with these clients.
    ///
    /// # Errors
    /// When a connection or a thread cannot be made.
    pub(crate) fn start(
        hosts: &'a dyn ClientHosts,
        experiment: &Experiment,
        clients: u32,
        clock: &'a SteadyClock,
    ) -> io::Result<Self> {
        let machines = experiment.hosts.clone().unwrap_or_default();
        let steps = (0..).zip(experiment.steps_for(clients));
        let shared = steps.filter(|(_, step)| experiment.is_shared(step)).map(|(at, _)| at);
        let names = machines.clients.clone();
        let member =
            Membership { hosts: machines, shared: shared.collect(), ..Membership::default() };
        let (send, events) = sync_channel(MESSAGES_MAX);
        let connect =
            |(at, _): (usize, &String)| Connection::open(hosts, at, clock.clone(), send.clone());
        let connections = names.iter().enumerate().map(connect).collect::<io::Result<Vec<_>>>()?;
        let life = show_life(&connections)?;
        let host = |name: &String| ClientHost { name: name.clone(), ..ClientHost::default() };
        Ok(Self {
            hosts,
            clock,
            connections,
            has_ended: vec![false; names.len()],
            events,
            later: VecDeque::new(),
            lock_step: LockStep::new(&names, member.shared.clone()),
            merged: VecDeque::new(),
            member,
            order: None,
            is_reply_of_all: false,
            clocks: names.iter().map(|_| HostClocks::default()).collect(),
            has_begun: vec![false; names.len()],
            pinged: clock.now(),
            number: 0,
            client_hosts: names.iter().map(host).collect(),
            is_over: false,
            compared: Nanos(0),
            _life: life,
        })
    }

    /// Returns the CPUs of all client hosts, as far as their workers have reported them.
    pub(crate) fn cpus(&self) -> CpuCount {
        let cpus = self.client_hosts.iter().map(|host| host.host.cpus);
        cpus.fold(CpuCount::default(), CpuCount::and)
    }

    /// Sends a command to the workers that it is for.
    pub(crate) fn send(&mut self, command: &Command) {
        match command {
            Command::Run(order) => {
                self.order = Some(order.clone());
                // The data of a restored load belong to a data set.
                self.send_order(0, fs::read_to_string(order.dir.join(DATA_SET_FILE)).ok());
            }
            Command::Stop => self.send_all(command),
            Command::Go if self.is_reply_of_all => self.send_all(command),
            Command::Go
            | Command::Start { .. }
            | Command::Ping { .. }
            | Command::Classified { .. } => self.connections[0].send(command),
        }
    }

    fn send_all(&mut self, command: &Command) {
        self.connections.iter_mut().for_each(|connection| connection.send(command));
    }

    /// Sends a worker its order.
    fn send_order(&mut self, worker: usize, data_set: Option<String>) {
        let Some(order) = self.order.clone() else { return };
        let position = u32::try_from(worker).unwrap_or(u32::MAX);
        let member = Membership { position, data_set, ..self.member.clone() };
        let order = Box::new(Order { member: Some(member), ..*order });
        self.connections[worker].send(&Command::Run(order));
    }

    /// Waits for the next event, at most `limit`.
    pub(crate) fn receive(&mut self, limit: Duration) -> GroupEvent {
        if let Some(Merged { message, is_of_all }) = self.merged.pop_front() {
            self.is_reply_of_all = is_of_all;
            return GroupEvent::Message(message);
        }
        let now = self.clock.now();
        if now.since(self.pinged) >= PING_EVERY {
            self.pinged = now;
            (0..self.connections.len()).for_each(|worker| self.ping(worker));
        }
        let arrival = self.later.pop_front().or_else(|| self.events.recv_timeout(limit).ok());
        match arrival {
            Some(arrival) => self.take(arrival),
            None => self.silent_host().map_or(GroupEvent::Silence, GroupEvent::Lost),
        }
    }

    /// Returns a worker that has not answered for too long; every message so far was read.
    fn silent_host(&self) -> Option<Lost> {
        let now = self.clock.now();
        let waited = |worker: usize| Some(now.since(self.clocks[worker].unanswered_since()?));
        let is_lost = |worker: &usize| {
            let has_begun = self.has_begun[*worker] && !self.has_ended[*worker];
            has_begun && waited(*worker).is_some_and(|it| it > SILENT_MAX)
        };
        let worker = (0..self.clocks.len()).find(is_lost).filter(|_| !self.is_over)?;
        let reason = format!("its worker has not answered for {}", waited(worker)?);
        Some(Lost { host: self.client_hosts[worker].name.clone(), reason })
    }

    /// Returns the time since the last call in which clocks were compared.
    pub(crate) const fn take_compared(&mut self) -> Nanos {
        std::mem::replace(&mut self.compared, Nanos(0))
    }

    fn take(&mut self, Arrival { worker, at, message }: Arrival) -> GroupEvent {
        match message {
            Ok(Some(message)) => {
                self.has_begun[worker] = true;
                self.message(worker, at, *message)
            }
            Ok(None) => self.ended(worker),
            Err(error) => {
                let host = &self.client_hosts[worker].name;
                GroupEvent::Broken(format!("client host {host}: {error}"))
            }
        }
    }

    fn message(&mut self, worker: usize, at: Nanos, message: Message) -> GroupEvent {
        if let Message::Pong { number, now } = message {
            self.clocks[worker].pong(number, now, at);
        } else if let Message::Machine { host } = message {
            self.client_hosts[worker].host = *host;
        } else {
            match self.lock_step.add(worker, message) {
                Ok(acts) => self.follow(acts),
                Err(reason) => return GroupEvent::Broken(reason),
            }
        }
        GroupEvent::Silence
    }

    /// Notes the end of a connection.
    fn ended(&mut self, worker: usize) -> GroupEvent {
        self.has_ended[worker] = true;
        if self.is_over || self.lock_step.is_closed(worker) {
            let is_end = self.has_ended.iter().all(|has_ended| *has_ended);
            return if is_end { GroupEvent::End } else { GroupEvent::Silence };
        }
        let reason = self.hosts.reason(worker);
        let reason = reason.unwrap_or_else(|| "its connection ended".to_owned());
        GroupEvent::Lost(Lost { host: self.client_hosts[worker].name.clone(), reason })
    }

    /// Does what follows from a message.
    fn follow(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Emit(merged) => self.merged.push_back(merged),
                Act::Go(worker) => self.connections[worker].send(&Command::Go),
                Act::Join(data_set) => (1..self.connections.len())
                    .for_each(|worker| self.send_order(worker, data_set.clone())),
                Act::Start(workers) => self.start_clients(&workers),
                Act::Compare => self.compare_after(),
                Act::Stop => self.send_all(&Command::Stop),
                Act::Dismiss => {
                    let is_open = |worker: &usize| !self.lock_step.is_closed(*worker);
                    let open: Vec<_> = (0..self.connections.len()).filter(is_open).collect();
                    open.iter().for_each(|worker| self.connections[*worker].hang_up());
                    for act in self.lock_step.dismiss() {
                        if let Act::Emit(merged) = act {
                            self.merged.push_back(merged);
                        }
                    }
                }
            }
        }
    }

    /// Lets the clients of these workers begin at one time.
    fn start_clients(&mut self, workers: &[usize]) {
        self.clocks.iter_mut().for_each(HostClocks::forget);
        let offsets = self.compare();
        let error_ns = offsets.iter().flatten().map(|offset| offset.error_ns).max();
        let delay = Nanos(error_ns.unwrap_or(0).saturating_mul(8));
        let start = self.clock.now().after(START_DELAY).after(delay);
        for &worker in workers {
            // A worker that does not answer is soon lost.
            let Some(before) = offsets[worker] else { continue };
            let at = there(start, before);
            self.connections[worker].send(&Command::Start { at });
            let step_index = self.lock_step.index();
            let before = self.clocks[worker].recorded(before);
            let clock = HostClock { step_index, before, during: None, after: None };
            self.client_hosts[worker].clocks.push(clock);
        }
    }

    /// Compares the clocks after the clients of a shared step have ended.
    fn compare_after(&mut self) {
        let during: Vec<_> = self.clocks.iter_mut().map(HostClocks::take).collect();
        let after = self.compare();
        let step_index = self.lock_step.index();
        for (worker, (during, after)) in during.into_iter().zip(after).enumerate() {
            let clock = self.client_hosts[worker].clocks.last_mut();
            let Some(clock) = clock.filter(|clock| clock.step_index == step_index) else {
                continue;
            };
            clock.during = during.map(|found| self.clocks[worker].recorded(found));
            clock.after = after.map(|found| self.clocks[worker].recorded(found));
        }
    }

    /// Compares each clock with that of this host: the shortest of several exchanges counts.
    fn compare(&mut self) -> Vec<Option<ClockOffset>> {
        let begun = self.clock.now();
        let mut exchanges = 0;
        while exchanges < EXCHANGES && self.clock.now().since(begun) < COMPARE_MAX {
            exchanges += 1;
            self.exchange();
        }
        self.compared = self.compared.after(self.clock.now().since(begun));
        self.clocks.iter_mut().map(HostClocks::take).collect()
    }

    /// Sends each worker a ping, and waits for the answers; other messages are read later.
    fn exchange(&mut self) {
        let first = self.number + 1;
        (0..self.connections.len()).for_each(|worker| self.ping(worker));
        let until = self.clock.now().after(EXCHANGE_MAX);
        let mut missing = self.has_ended.iter().filter(|has_ended| !**has_ended).count();
        while missing > 0 {
            let left = Duration::from_nanos(until.since(self.clock.now()).0);
            let Ok(arrival) = self.events.recv_timeout(left) else { return };
            let Arrival { worker, at, ref message } = arrival;
            if let Ok(Some(message)) = message
                && let Message::Pong { number, now } = **message
            {
                self.clocks[worker].pong(number, now, at);
                missing -= usize::from(number >= first);
                continue;
            }
            missing -= usize::from(!matches!(arrival.message, Ok(Some(_))));
            self.later.push_back(arrival);
        }
    }

    fn ping(&mut self, worker: usize) {
        self.number += 1;
        let number = self.number;
        self.clocks[worker].ping(number, self.clock.now());
        self.connections[worker].send(&Command::Ping { number });
    }

    /// Ends all workers.
    pub(crate) fn kill(&mut self) {
        self.is_over = true;
        self.connections.iter().for_each(Connection::hang_up);
    }

    /// Waits for the end of all connections; returns the machines.
    pub(crate) fn close(&mut self) -> Vec<ClientHost> {
        self.kill();
        while self.has_ended.iter().any(|has_ended| !has_ended) {
            let later = self.later.pop_front();
            let arrival = later.or_else(|| self.events.recv_timeout(END_GRACE).ok());
            let Some(arrival) = arrival else { break };
            self.has_ended[arrival.worker] |= !matches!(arrival.message, Ok(Some(_)));
        }
        std::mem::take(&mut self.client_hosts)
    }
}

//! Poolers in front of a server: refused where connections share sessions, else a fact.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test helper fails the test")]

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use engine::OpenSpec;
use model::Address;

use crate::application::sales;
use crate::fixture::Fixture;
use crate::procedures::insert;

/// A packet's bytes before its content.
const HEAD: usize = 4;
/// Capability of results without a packet between columns and rows.
const DEPRECATE_EOF: u32 = 1 << 24;

/// A scripted pooler; with `idle`, each statement gets the session that was used last.
struct Pooler {
    socket: PathBuf,
    idle: Option<Mutex<VecDeque<UnixStream>>>,
}

impl Pooler {
    /// Listens in front of a server until the test ends; returns the spec of its clients.
    fn before(mut spec: OpenSpec, shares: bool) -> OpenSpec {
        let endpoint = spec.endpoint.as_mut().expect("it is a server");
        let Address::Socket(socket) = endpoint.address.clone() else { panic!("{endpoint:?}") };
        let path = spec.dir.join("pooler");
        let listener = UnixListener::bind(&path).expect("it can listen");
        endpoint.address = Address::Socket(path);
        endpoint.is_foreign = true;
        let pooler = Arc::new(Self { socket, idle: shares.then(Mutex::default) });
        thread::spawn(move || {
            for client in listener.incoming() {
                let pooler = Arc::clone(&pooler);
                // A client that goes away ends its connection alone.
                thread::spawn(move || pooler.serve(client?));
            }
        });
        spec
    }

    fn serve(&self, mut client: UnixStream) -> io::Result<()> {
        let (mut session, flags) = self.log_in(&mut client)?;
        let Some(idle) = &self.idle else {
            let (mut from, mut to) = (session.try_clone()?, client.try_clone()?);
            thread::spawn(move || io::copy(&mut from, &mut to));
            io::copy(&mut client, &mut session)?;
            return session.shutdown(std::net::Shutdown::Both);
        };
        idle.lock().unwrap().push_back(session);
        loop {
            let request = packet(&mut client)?;
            if request[HEAD] == 1 {
                return Ok(());
            }
            let mut session = idle.lock().unwrap().pop_back().expect("one for each client");
            session.write_all(&request)?;
            pass_result(&mut session, &mut client, flags & DEPRECATE_EOF != 0)?;
            idle.lock().unwrap().push_back(session);
        }
    }

    /// Passes a login on; the client gets a number that is no session's. Returns its flags, too.
    ///
    /// Source: MySQL's source documentation, "Connection Phase".
    fn log_in(&self, client: &mut UnixStream) -> io::Result<(UnixStream, u32)> {
        let mut session = UnixStream::connect(&self.socket)?;
        let mut greeting = packet(&mut session)?;
        let number = HEAD + 2 + greeting[HEAD + 1..].iter().position(|byte| *byte == 0).unwrap();
        greeting[number + 3] ^= 0x40;
        client.write_all(&greeting)?;
        let response = packet(client)?;
        session.write_all(&response)?;
        let flags = u32::from_le_bytes(response[HEAD..HEAD + 4].try_into().unwrap());
        loop {
            let answer = packet(&mut session)?;
            client.write_all(&answer)?;
            match answer[HEAD..] {
                [0, ..] => return Ok((session, flags)),
                // The password is known already: its acceptance follows.
                [1, 3, ..] => {}
                _ => session.write_all(&packet(client)?)?,
            }
        }
    }
}

/// Passes the result of a statement as text on.
///
/// Source: MySQL's source documentation, "Text Resultset".
fn pass_result(from: &mut UnixStream, to: &mut UnixStream, has_no_eof: bool) -> io::Result<()> {
    let first = packet(from)?;
    to.write_all(&first)?;
    if [0, 0xff].contains(&first[HEAD]) {
        return Ok(());
    }
    for _ in 0..first[HEAD] + u8::from(!has_no_eof) {
        to.write_all(&packet(from)?)?;
    }
    loop {
        let row = packet(from)?;
        to.write_all(&row)?;
        if [0xfe, 0xff].contains(&row[HEAD]) {
            return Ok(());
        }
    }
}

/// Reads a packet with its head.
fn packet(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; HEAD];
    stream.read_exact(&mut packet)?;
    let length = usize::from(packet[0]) | usize::from(packet[1]) << 8;
    packet.resize(HEAD + length, 0);
    stream.read_exact(&mut packet[HEAD..])?;
    Ok(packet)
}

pub(crate) fn poolers_that_share_sessions_are_refused_and_leave_no_lock(fixture: &Fixture) {
    let (direct, _dir) = fixture.fresh(Some(sales()));
    let pooled = Pooler::before(direct.clone(), true);
    let error = fixture.driver.open(&pooled).err().expect("it shares sessions").to_string();
    let reason = format!("a pooler answers at {}", pooled.dir.join("pooler").display());
    assert!(error.contains(&reason) && error.contains("multiplexing in ProxySQL"), "{error}");
    fixture.driver.open(&direct).expect("no lock is left").close().expect("it closes");
}

pub(crate) fn a_pooler_with_a_session_for_each_connection_is_a_fact(fixture: &Fixture) {
    let (direct, _dir) = fixture.fresh(Some(sales()));
    let pooled = Pooler::before(direct.clone(), false);
    let engine = fixture.driver.open(&pooled).expect("each connection has its session");
    assert!(engine.identity().facts["pooler"].contains("response times include the pooler"));
    let mut sessions = [(); 2].map(|()| engine.session().expect("there is room"));
    for (session, key) in sessions.iter_mut().zip([1, 70]) {
        insert(&mut **session, key).expect("rows are inserted");
    }
    drop(sessions);
    let error = fixture.driver.open(&direct).err().expect("the run has the lock").to_string();
    assert!(error.contains("another run of Assay"), "{error}");
    engine.close().expect("it closes");
}

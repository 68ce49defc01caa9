//! A scripted pooler, which gives sessions of a server to clients as a policy states.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use model::{Address, Endpoint};

use crate::calls::foreign;
use crate::test_server::TestServer;

/// Which session of the server executes a client's transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    /// One of its own, which ends with the client.
    Session,
    /// One of its own, which the next client gets as it is.
    SessionAsItIs,
    /// The one used last by any client.
    UsedLast,
    /// The one that has waited longest.
    WaitsLongest,
}

/// A pooler in front of a server; it ignores every setting of a login but user and database.
pub(crate) struct Pooler {
    pool: Pool,
    socket: PathBuf,
    idle: Mutex<VecDeque<UnixStream>>,
    logins: AtomicU32,
}

impl Pooler {
    /// Listens at the loopback address until the test ends; returns where.
    pub(crate) fn before(server: &TestServer, pool: Pool) -> Endpoint {
        let endpoint = foreign(server, "postgres");
        let Address::Socket(socket) = endpoint.address.clone() else { panic!("{endpoint:?}") };
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let pooler = Arc::new(Self { pool, socket, idle: Mutex::default(), logins: 0.into() });
        thread::spawn(move || {
            for client in listener.incoming() {
                let pooler = Arc::clone(&pooler);
                // A client that goes away ends its connection alone.
                thread::spawn(move || pooler.serve(client?));
            }
        });
        Endpoint { address: Address::tcp("127.0.0.1", port), ..endpoint }
    }

    /// Serves one client until it goes away.
    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let fresh = self.log_in(&mut client)?;
        let mut own = None;
        match self.pool {
            Pool::Session => own = Some(fresh),
            Pool::SessionAsItIs => own = self.idle.lock().unwrap().pop_back().or(Some(fresh)),
            Pool::UsedLast | Pool::WaitsLongest => self.idle.lock().unwrap().push_back(fresh),
        }
        let done = self.pass_all(&mut client, &mut own);
        if let (Pool::SessionAsItIs, Some(session)) = (self.pool, own) {
            self.idle.lock().unwrap().push_back(session);
        }
        done
    }

    /// Passes a login on without its settings; the client gets a number that is no session's.
    ///
    /// Source: Postgres' documentation, "Message Formats".
    fn log_in(&self, client: &mut TcpStream) -> io::Result<UnixStream> {
        let mut head = [0; 8];
        client.read_exact(&mut head)?;
        let length = u32::from_be_bytes(head[..4].try_into().unwrap());
        let mut body = vec![0; usize::try_from(length).unwrap() - head.len()];
        client.read_exact(&mut body)?;
        let texts: Vec<&[u8]> = body.split(|byte| *byte == 0).collect();
        let mut request = head[4..].to_vec();
        for pair in texts.chunks(2).filter(|pair| [&b"user"[..], b"database"].contains(&pair[0])) {
            pair.iter().for_each(|text| request.extend(text.iter().chain(&[0])));
        }
        request.push(0);
        let mut session = UnixStream::connect(&self.socket)?;
        session.write_all(&u32::try_from(request.len() + 4).unwrap().to_be_bytes())?;
        session.write_all(&request)?;
        loop {
            let mut answer = message(&mut session)?;
            if answer[0] == b'K' {
                let number = (1 << 30) + self.logins.fetch_add(1, Ordering::Relaxed);
                answer[5..9].copy_from_slice(&number.to_be_bytes());
            }
            client.write_all(&answer)?;
            match answer[0] {
                b'Z' => return Ok(session),
                // A password, or the next message of SCRAM; not after its last one.
                b'R' if [3, 5, 10, 11].contains(&answer[8]) => {
                    session.write_all(&message(client)?)?;
                }
                _ => {}
            }
        }
    }

    /// Passes requests on, each to the session of its transaction.
    fn pass_all(&self, client: &mut TcpStream, own: &mut Option<UnixStream>) -> io::Result<()> {
        loop {
            let mut request = Vec::new();
            let kind = loop {
                let part = message(client)?;
                request.extend(&part);
                if b"QSX".contains(&part[0]) {
                    break part[0];
                }
            };
            if kind == b'X' {
                return Ok(());
            }
            let mut session = match own.take() {
                Some(session) => session,
                None => self.take().ok_or(io::ErrorKind::NotFound)?,
            };
            session.write_all(&request)?;
            let status = loop {
                let answer = message(&mut session)?;
                client.write_all(&answer)?;
                if answer[0] == b'Z' {
                    break answer[5];
                }
            };
            let is_shared = matches!(self.pool, Pool::UsedLast | Pool::WaitsLongest);
            if is_shared && status == b'I' {
                self.idle.lock().unwrap().push_back(session);
            } else {
                *own = Some(session);
            }
        }
    }

    fn take(&self) -> Option<UnixStream> {
        let mut idle = self.idle.lock().unwrap();
        match self.pool {
            Pool::WaitsLongest => idle.pop_front(),
            Pool::Session | Pool::SessionAsItIs | Pool::UsedLast => idle.pop_back(),
        }
    }
}

/// Reads a message with its head.
fn message(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut message = vec![0; 5];
    stream.read_exact(&mut message)?;
    let length = u32::from_be_bytes(message[1..].try_into().unwrap());
    message.resize(usize::try_from(length).unwrap() + 1, 0);
    stream.read_exact(&mut message[5..])?;
    Ok(message)
}

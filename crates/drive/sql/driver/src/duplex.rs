//! Writes to a socket whose peer may be writing too.

use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::socket::Socket;

impl Socket {
    /// Writes all bytes, calling `take` whenever the socket is readable.
    ///
    /// A server whose answers are not read stops reading, so a pipelining client that only writes
    /// would deadlock. `take` reads once. One system call where the socket has room.
    ///
    /// # Errors
    /// When the socket fails, or `take` does.
    pub fn write_and_take(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() || self.has_unsent() {
            match self.send_now(rest) {
                Ok(sent) => rest = &rest[sent..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if wait(self)? {
                        take(self)?;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Waits until the socket can be read or written; returns whether it can be read.
#[cold]
fn wait(socket: &impl AsFd) -> io::Result<bool> {
    let mut polled = [PollFd::new(socket, PollFlags::IN | PollFlags::OUT)];
    loop {
        match poll(&mut polled, None) {
            Ok(_) => return Ok(polled[0].revents().contains(PollFlags::IN)),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::thread;

    use model::{Address, ClientCertificate, LoginOptions, Tls};
    use rustls::crypto::ring;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::server::WebPkiClientVerifier;
    use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

    use super::*;
    use crate::socket::Contact;

    /// Checks that all comes back from a peer that writes back all it reads, blocking, with far
    /// more in flight than both buffers hold.
    fn all_comes_back(mut ours: Socket, mut theirs: impl Read + Write + Send + 'static) {
        let sent: Vec<u8> = (0..=250).cycle().take(8 << 20).collect();
        let bytes = sent.len();
        let echo = thread::spawn(move || {
            let mut buffer = [0; 4096];
            let mut echoed = 0;
            while echoed < bytes {
                let read = theirs.read(&mut buffer).unwrap();
                theirs.write_all(&buffer[..read]).unwrap();
                echoed += read;
            }
        });
        let mut back = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        ours.write_and_take(&sent, |socket| {
            let read = socket.read(&mut buffer)?;
            back.extend_from_slice(&buffer[..read]);
            Ok(())
        })
        .unwrap();
        while back.len() < sent.len() {
            let read = ours.read(&mut buffer).unwrap();
            back.extend_from_slice(&buffer[..read]);
        }
        assert!(back == sent);
        echo.join().unwrap();
    }

    #[test]
    fn pipelining_never_deadlocks_on_full_socket_buffers() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        all_comes_back(Socket::unix(ours), theirs);
    }

    /// A client that gives its certificate to a server that demands one, and the server's side.
    fn encrypted_peer() -> (Socket, StreamOwned<ServerConnection, TcpStream>) {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let [chain, key_file] = ["chain.pem", "key.pem"].map(|name| dir.path().join(name));
        std::fs::write(&chain, made.cert.pem()).unwrap();
        std::fs::write(&key_file, made.signing_key.serialize_pem()).unwrap();
        let mut clients = RootCertStore::empty();
        clients.add(made.cert.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(clients.into(), provider.clone())
                .build()
                .unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![made.cert.der().clone()], key.into())
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (host, port) = ("127.0.0.1".to_owned(), listener.local_addr().unwrap().port());
        let tls = Tls::Verified(chain.clone());
        let certificate = Some(ClientCertificate { chain, key: key_file });
        let login = LoginOptions { certificate, ..LoginOptions::default() };
        let address = Address::Tcp { host, port, tls };
        let mut ours = Socket::connect(&address, &login, Contact::Known).unwrap();
        let (theirs, _) = listener.accept().unwrap();
        let session = ServerConnection::new(Arc::new(config)).unwrap();
        let server = thread::spawn(move || {
            let mut server = StreamOwned::new(session, theirs);
            server.conn.complete_io(&mut server.sock).unwrap();
            server
        });
        ours.encrypt(&address, &login).unwrap();
        (ours, server.join().unwrap())
    }

    #[test]
    fn encrypted_pipelining_never_deadlocks_on_full_socket_buffers() {
        let (ours, theirs) = encrypted_peer();
        assert!(ours.is_secure());
        assert_eq!(theirs.conn.peer_certificates().map(<[_]>::len), Some(1));
        all_comes_back(ours, theirs);
    }

    #[test]
    fn closed_socket_is_an_error_not_a_signal() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let error = Socket::unix(ours).write_and_take(b"x", |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}

//! Encryption of a TCP connection.

use std::io::{self, Read, Write};
use std::sync::Arc;

use model::{ClientCertificate, Tls};
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

use crate::certificate::{Note, Roots, Verifier, text_of};
use crate::timed_stream::TimedStream;
use crate::{client_identity, end_point};

/// The encryption of a TCP connection.
///
/// Unlike the stream of `rustls` it never writes while it reads, so that a pipelining client that
/// reads to make room cannot block.
#[derive(Debug)]
pub(crate) struct Encryption {
    session: ClientConnection,
    /// How the certificate was accepted, where that is not by its names.
    note: Note,
}

impl Encryption {
    /// Agrees on keys with the server; `None` where nothing is to be encrypted.
    pub(crate) fn begin(
        stream: &mut TimedStream,
        host: &str,
        tls: &Tls,
        own: Option<&ClientCertificate>,
    ) -> io::Result<Option<Self>> {
        let note = Note::default();
        let Some(config) = config(tls, own, &note)? else { return Ok(None) };
        // No certificate has the zone of an IPv6 address.
        let host = host.split('%').next().unwrap_or(host);
        let name = ServerName::try_from(host.to_owned()).map_err(|_why| {
            io::Error::other(format!(
                "`{host}` is not a name or address that a certificate can have"
            ))
        })?;
        let mut session =
            ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        while session.is_handshaking() {
            session.complete_io(stream).map_err(with_remedy)?;
        }
        Ok(Some(Self { session, note }))
    }

    /// Returns how the certificate was accepted, where that is not by its names.
    pub(crate) fn note(&self) -> Option<&'static str> {
        self.note.get().copied()
    }

    /// Returns the hash of the server's certificate that a login is bound to.
    pub(crate) fn end_point(&self) -> Option<Vec<u8>> {
        end_point::hash(self.session.peer_certificates()?.first()?)
    }

    pub(crate) fn has_unsent(&self) -> bool {
        self.session.wants_write()
    }

    /// Takes and sends what there is room for; 0 when no byte of `bytes` had room.
    pub(crate) fn send_now(&mut self, stream: &TimedStream, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(bytes)?;
        match self.session.write_tls(&mut WithoutWaiting(stream)) {
            // The next call fails with it.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && taken > 0 => Ok(taken),
            sent => sent.map(|_| taken),
        }
    }

    /// Reads decrypted bytes.
    pub(crate) fn read(
        &mut self,
        stream: &mut TimedStream,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The server has ended the encryption.
                Ok(0) if !buffer.is_empty() => return Err(stream.closed()),
                read => return read,
            }
            self.session.read_tls(stream)?;
            let processed = self.session.process_new_packets().map_err(io::Error::other);
            processed.map_err(with_remedy)?;
        }
    }

    /// Encrypts and sends bytes; returns how many were taken.
    pub(crate) fn write(&mut self, stream: &mut TimedStream, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(bytes)?;
        while self.session.wants_write() {
            self.session.write_tls(stream)?;
        }
        Ok(taken)
    }
}

/// Writes that fail where they would wait.
struct WithoutWaiting<'s>(&'s TimedStream);

impl Write for WithoutWaiting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_now(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the first message of a client of TLS.
pub(crate) fn client_hello() -> Option<Vec<u8>> {
    let config = config(&Tls::Unverified, None, &Note::default()).ok()??;
    let name = ServerName::try_from("localhost").ok()?;
    let mut hello = Vec::new();
    ClientConnection::new(Arc::new(config), name).ok()?.write_tls(&mut hello).ok()?;
    Some(hello)
}

/// Returns a failure of TLS with its remedy.
#[cold]
fn with_remedy(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), text_of(&error))
}

fn config(
    tls: &Tls,
    own: Option<&ClientCertificate>,
    note: &Note,
) -> io::Result<Option<ClientConfig>> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let (file, note) = match tls {
        Tls::Off | Tls::Waived | Tls::Allowed | Tls::Preferred => return Ok(None),
        Tls::Unverified => (None, None),
        Tls::VerifiedIssuer(file) => (Some(file), None),
        Tls::Verified(file) => (Some(file), Some(Arc::clone(note))),
    };
    let roots = file.map(|file| Roots::read(file)).transpose()?;
    let verifier = Arc::new(Verifier { roots, provider: Arc::clone(&provider), note });
    let verifying = builder.dangerous().with_custom_certificate_verifier(verifier);
    let Some(own) = own else { return Ok(Some(verifying.with_no_client_auth())) };
    let own = client_identity::read(own, &provider)?;
    Ok(Some(verifying.with_client_cert_resolver(own)))
}

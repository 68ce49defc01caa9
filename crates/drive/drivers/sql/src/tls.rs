//! An encrypted TCP connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use model::Tls;
use rustix::net::{SendFlags, send};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

/// A TCP connection whose bytes are encrypted.
///
/// Unlike the stream of `rustls` it never writes while it reads, so that a pipelining client that
/// reads to make room cannot block.
#[derive(Debug)]
pub struct Encrypted {
    session: ClientConnection,
    tcp: TcpStream,
}

impl Encrypted {
    /// Agrees on keys with the server; `None` where nothing is to be encrypted.
    pub(crate) fn begin(mut tcp: TcpStream, host: &str, tls: &Tls) -> io::Result<Option<Self>> {
        let Some(config) = config(tls)? else { return Ok(None) };
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let mut session =
            ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        while session.is_handshaking() {
            session.complete_io(&mut tcp)?;
        }
        Ok(Some(Self { session, tcp }))
    }

    pub(crate) const fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    pub(crate) fn has_unsent(&self) -> bool {
        self.session.wants_write()
    }

    /// Takes and sends what there is room for; 0 when no byte of `bytes` had room.
    pub(crate) fn send_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(bytes)?;
        match self.session.write_tls(&mut WithoutWaiting(&self.tcp)) {
            // The next call fails with it.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && taken > 0 => Ok(taken),
            sent => sent.map(|_| taken),
        }
    }
}

impl Read for Encrypted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            self.session.read_tls(&mut self.tcp)?;
            self.session.process_new_packets().map_err(io::Error::other)?;
        }
    }
}

impl Write for Encrypted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(bytes)?;
        while self.session.wants_write() {
            self.session.write_tls(&mut self.tcp)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes that fail where they would wait.
struct WithoutWaiting<'s>(&'s TcpStream);

impl Write for WithoutWaiting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.0, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn config(tls: &Tls) -> io::Result<Option<ClientConfig>> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let verifying = match tls {
        Tls::Off | Tls::Waived => return Ok(None),
        Tls::Unverified => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        }
        Tls::Verified(roots) => {
            let unreadable = |why: &dyn std::fmt::Display| {
                io::Error::other(format!("{}: {why}", roots.display()))
            };
            let mut trusted = RootCertStore::empty();
            for certificate in
                CertificateDer::pem_file_iter(roots).map_err(|why| unreadable(&why))?
            {
                let certificate = certificate.map_err(|why| unreadable(&why))?;
                trusted.add(certificate).map_err(|why| unreadable(&why))?;
            }
            if trusted.is_empty() {
                return Err(unreadable(&"it has no certificate"));
            }
            builder.with_root_certificates(trusted)
        }
    };
    Ok(Some(verifying.with_no_client_auth()))
}

/// Accepts every certificate whose owner has its key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

//! An encrypted TCP connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use model::{ClientCertificate, Tls};
use rustix::net::{SendFlags, send};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme,
};

use crate::{end_point, roots};

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
    pub(crate) fn begin(
        mut tcp: TcpStream,
        host: &str,
        tls: &Tls,
        own: Option<&ClientCertificate>,
    ) -> io::Result<Option<Self>> {
        let Some(config) = config(tls, own)? else { return Ok(None) };
        // No certificate has the zone of an IPv6 address.
        let host = host.split('%').next().unwrap_or(host);
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let mut session =
            ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        while session.is_handshaking() {
            session.complete_io(&mut tcp)?;
        }
        Ok(Some(Self { session, tcp }))
    }

    /// Returns the hash of the server's certificate that a login is bound to.
    pub(crate) fn end_point(&self) -> Option<Vec<u8>> {
        end_point::hash(self.session.peer_certificates()?.first()?)
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

fn config(tls: &Tls, own: Option<&ClientCertificate>) -> io::Result<Option<ClientConfig>> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let verifying = match tls {
        Tls::Off | Tls::Waived | Tls::Allowed | Tls::Preferred => return Ok(None),
        Tls::Unverified => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        }
        Tls::VerifiedIssuer(roots) => {
            let trusted = Arc::new(roots::trusted(roots)?);
            let issuer = WebPkiServerVerifier::builder_with_provider(trusted, provider)
                .build()
                .map_err(io::Error::other)?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyHost(issuer)))
        }
        Tls::Verified(roots) => builder.with_root_certificates(roots::trusted(roots)?),
    };
    let Some(own) = own else { return Ok(Some(verifying.with_no_client_auth())) };
    let (chain, key) = roots::client(own)?;
    verifying.with_client_auth_cert(chain, key).map(Some).map_err(io::Error::other)
}

/// Accepts certificates of a trusted issuer, whatever host they are for.
#[derive(Debug)]
struct AnyHost(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyHost {
    /// The host is checked last: a certificate that is only for another one is accepted.
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let verified =
            self.0.verify_server_cert(certificate, intermediates, name, ocsp_response, now);
        match verified {
            Err(rustls::Error::InvalidCertificate(
                NotValidForName | NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
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

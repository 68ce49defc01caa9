//! Encryption of connections: certificates and key.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::error::ServeError;
use crate::options::Tls;

/// Reads certificates and key.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, ServeError> {
    let unusable = |why: &dyn ToString| {
        ServeError::Pem("certificate", tls.certificates.clone(), why.to_string())
    };
    let unusable_key =
        |why: &dyn ToString| ServeError::Pem("key", tls.key.clone(), why.to_string());
    let chain = CertificateDer::pem_file_iter(&tls.certificates).map_err(|why| unusable(&why))?;
    let chain: Vec<_> = chain.collect::<Result<_, _>>().map_err(|why| unusable(&why))?;
    if chain.is_empty() {
        return Err(unusable(&"the file has no certificate"));
    }
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|why| unusable_key(&why))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|why| unusable(&why))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|why| unusable_key(&why))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

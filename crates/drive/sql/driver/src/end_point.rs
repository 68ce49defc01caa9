//! The hash of a server's certificate that a login is bound to.

use sha2::{Digest as _, Sha256, Sha384, Sha512};

use x509_parser::oid_registry as oid;
use x509_parser::parse_x509_certificate;

/// Returns the hash of a certificate by the function of its signature; `None` where it has none.
///
/// Source: RFC 5929, section 4.1, `tls-server-end-point`: SHA-256 replaces MD5 and SHA-1.
pub(crate) fn hash(certificate: &[u8]) -> Option<Vec<u8>> {
    let (_rest, parsed) = parse_x509_certificate(certificate).ok()?;
    let algorithm = &parsed.signature_algorithm.algorithm;
    let is_any = |known: &[oid::Oid<'_>]| known.contains(algorithm);
    if is_any(&[
        oid::OID_PKCS1_MD5WITHRSAENC,
        oid::OID_PKCS1_SHA1WITHRSA,
        oid::OID_PKCS1_SHA256WITHRSA,
        oid::OID_SIG_ECDSA_WITH_SHA256,
    ]) {
        Some(Sha256::digest(certificate).to_vec())
    } else if is_any(&[oid::OID_PKCS1_SHA384WITHRSA, oid::OID_SIG_ECDSA_WITH_SHA384]) {
        Some(Sha384::digest(certificate).to_vec())
    } else if is_any(&[oid::OID_PKCS1_SHA512WITHRSA, oid::OID_SIG_ECDSA_WITH_SHA512]) {
        Some(Sha512::digest(certificate).to_vec())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_hashed_by_the_function_of_its_signature() {
        for (algorithm, expected) in [
            (&rcgen::PKCS_ECDSA_P256_SHA256, Some(32)),
            (&rcgen::PKCS_ECDSA_P384_SHA384, Some(48)),
            (&rcgen::PKCS_ED25519, None),
        ] {
            let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
            let params = rcgen::CertificateParams::new(vec!["h".to_owned()]).unwrap();
            let made = params.self_signed(&key).unwrap();
            let hash = hash(made.der());
            assert_eq!(hash.map(|hash| hash.len()), expected);
            assert_eq!(super::hash(&made.der()[..40]), None, "it is incomplete");
        }
    }
}

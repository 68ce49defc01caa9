//! The hash of a server's certificate that a login is bound to.

use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// Prefix of the names of signatures by RSA.
///
/// Source: RFC 8017, appendix A.2.4, `pkcs-1`.
const RSA: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
/// Prefix of the names of signatures by ECDSA.
///
/// Source: RFC 5758, section 3.2, `ecdsa-with-SHA2`.
const ECDSA: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3];

/// Returns the hash of a certificate by the function of its signature; `None` where it has none.
///
/// Source: RFC 5929, section 4.1, `tls-server-end-point`: SHA-256 replaces MD5 and SHA-1.
pub(crate) fn hash(certificate: &[u8]) -> Option<Vec<u8>> {
    // Source: RFC 5280, section 4.1: the signed part, then the algorithm of its signature.
    let whole = Element::first(certificate)?;
    let signed = Element::first(whole.content)?;
    let algorithm = Element::first(signed.rest)?;
    let name = Element::first(algorithm.content)?.content;
    let of = |family: &[u8]| name.strip_prefix(family)?.first().copied();
    match (of(&RSA), of(&ECDSA)) {
        (Some(4 | 5 | 11), _) | (_, Some(2)) => Some(Sha256::digest(certificate).to_vec()),
        (Some(12), _) | (_, Some(3)) => Some(Sha384::digest(certificate).to_vec()),
        (Some(13), _) | (_, Some(4)) => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}

/// An element of DER.
struct Element<'a> {
    content: &'a [u8],
    /// What follows it.
    rest: &'a [u8],
}

impl<'a> Element<'a> {
    /// Returns the first element of DER.
    ///
    /// Source: ITU-T X.690, section 8.1.3.
    fn first(der: &'a [u8]) -> Option<Self> {
        let (&[_tag, length], rest) = der.split_first_chunk::<2>()?;
        let (length, rest) = match length {
            0..0x80 => (usize::from(length), rest),
            _ => {
                let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
                let number = digits.iter().fold(0, |sum: usize, digit| {
                    sum.saturating_mul(256).saturating_add(usize::from(*digit))
                });
                (number, rest)
            }
        };
        let (content, rest) = rest.split_at_checked(length)?;
        Some(Self { content, rest })
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

//! Tests of the verification of certificates.
//!
//! Those that no maker of tests makes were made by OpenSSL for these tests.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, date_time_ymd,
};
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};

use super::fault::text_of;
use super::verifier::{Note, Roots, Verifier};

/// The time of every verification, seconds: January 2027.
const NOW: u64 = 1_800_000_000;

/// A root of P-256, valid for a century from 2026 on.
const ROOT: &str = "\
-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUZ25TMCX3X8KlKmU+Yw3+RRQdz0wwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJVGVzdCByb290MCAXDTI2MTEyODA2NTgyN1oYDzIxMjYxMTA0
MDY1ODI3WjAUMRIwEAYDVQQDDAlUZXN0IHJvb3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASAkkG6foKzRF1O9mypegiR1emAe7c5sC+ZYn2MVYUqnfgP/a6XoQDg
V8ySP5S8haAumqqx2sMk4Yl66X0tUB39o1MwUTAdBgNVHQ4EFgQUf3wT1X5A/9Vl
WUql7GQ8u19Og4AwHwYDVR0jBBgwFoAUf3wT1X5A/9VlWUql7GQ8u19Og4AwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAogV67AtvTbx0zly34/KT
lNAD6jAIcVGznkCULTQyS4gCIQDz76qFCmSHYzswPI5kZpxkYuqDDsYV+Z3e6yqs
yLYpGQ==
-----END CERTIFICATE-----
";

/// A certificate of X.509 version 1 for `db.example`, as `openssl x509 -req` makes it, by `ROOT`.
const VERSION_1: &str = "\
-----BEGIN CERTIFICATE-----
MIIBJDCBzAIUJg6ViNGEPwK+eldfRIcOCoci7bswCgYIKoZIzj0EAwIwFDESMBAG
A1UEAwwJVGVzdCByb290MCAXDTI2MTEyODA2NTgyN1oYDzIxMjYxMTA0MDY1ODI3
WjAVMRMwEQYDVQQDDApkYi5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEIzwPhxuK3EEnlnO5INmE9BXEQ6i4Z+OzLLcAH4KnlQsHQ5O+GRLyDV4FJczs
dM/I6WSEeFoEwbHWFZO1zbGAbzAKBggqhkjOPQQDAgNHADBEAiBOimXRnltZcBE0
rVo98bwyHsXz8duiLm7M+naoj1Sn0wIgfMiEWgD3WindOhYJvNLNqE0iJY4jcjuY
V+IJQTng5zg=
-----END CERTIFICATE-----
";

/// A root of RSA.
const RSA_ROOT: &str = "\
-----BEGIN CERTIFICATE-----
MIIDCTCCAfGgAwIBAgIURiJLNPurunlKIAO3/zUrTmp8r0QwDQYJKoZIhvcNAQEL
BQAwEzERMA8GA1UEAwwIUlNBIHJvb3QwIBcNMjYxMTI4MDY1ODI4WhgPMjEyNjEx
MDQwNjU4MjhaMBMxETAPBgNVBAMMCFJTQSByb290MIIBIjANBgkqhkiG9w0BAQEF
AAOCAQ8AMIIBCgKCAQEApRGQkvj88DLByl4s53Alb3LvXVsNJONwt5av7mP7inqu
PdA4uHeYQZUQgnveDclOTvbzhPxUPkNAec63dB+8jnGOOhxK2jok7tx9stauCt2n
Hz2RdcwEkVUyKtbEgfa4+RCJMkrmCS0qGavYRNHj9OVqKyQIyyQBHvo1Vw55fYvN
8UXJFufg9oqUBubMAOD4t79c8LcB7MVqVg2M4lqULE6N9b3Xn/5B4GDLUwJQABdT
02HXvt5CMCO3i6WWVozq8jn0koYN9Lq9tSY6FehWfZn+UBZApK067jbH3gNW7v/t
OwbYYeY3Fm3cFK5tus0YURB9PvWsF0iUm7S1P2RdUQIDAQABo1MwUTAdBgNVHQ4E
FgQUyrN7h9+18N3vc2MwOmuRByIJr3EwHwYDVR0jBBgwFoAUyrN7h9+18N3vc2Mw
OmuRByIJr3EwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAAR0R
9Vb5lmL+gXgoNTTIXwCf9O1OnuuVSFGpCVJV5VCmpjP08lOaxHPksv93EiRDGLmR
r8m5GsHQrwCJmfk2BTPyv3wJt7kRTjQCgleQB8YIFkpmUUQEeY5y4k6X3JrQDWAd
rjCFmI7R0b53g1fhXceKmZCkQ2EgiS4wEl6/+wZefSelynCxF4EQ1vlhn80Whk2i
c1edPwp/bscXcu/KKMGn9oSJ7o6ege0iHuk4xLom2acOZKGvZ2c9riOEpyv5ns0U
H79Y/1oocW4JbPHHnnfZcyBsqi5MWebSJZdioEuFhX5ycNV5HaSOy6EWCTgS/mr+
hvZ5QTneluCNIOk1Ng==
-----END CERTIFICATE-----
";

/// A certificate for `db.example` that `RSA_ROOT` signed with SHA-1.
const BY_SHA1: &str = "\
-----BEGIN CERTIFICATE-----
MIIB5TCBzgIULP00iClXUhrFbJjvdxivU9BDLn8wDQYJKoZIhvcNAQEFBQAwEzER
MA8GA1UEAwwIUlNBIHJvb3QwIBcNMjYxMTI4MDY1ODI4WhgPMjEyNjExMDQwNjU4
MjhaMBUxEzARBgNVBAMMCmRiLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAAQjPA+HG4rcQSeWc7kg2YT0FcRDqLhn47MstwAfgqeVCwdDk74ZEvINXgUl
zOx0z8jpZIR4WgTBsdYVk7XNsYBvMA0GCSqGSIb3DQEBBQUAA4IBAQBYVqBlzgkK
X1Cw1pUXFb8EQEvaVcDwGdfPrO8b61/fgfbM3mNZFSKPh+Y3fsUHcpcprYZ4dx6e
/pEhLm3n0YK8UsrmYTalGd8Op3cph7Cs/48VD3JMN8ZDUVWyFP9RNeDXqquID+Rv
k51UCTOWks0Stmow/ngQehcngVaEKhDynj2om3+yxSGD+uXbuFMfpf693HYmunsN
acqAG360r4HCiMpbMXKiakHkkqw3zBAiQL4PgB+HGmMuHGvk1NdLi2FdyrET4lMU
zebnv4E459ku/24F7hpniYJ/xTzUZpy6NnlPtEnAXPHOth0viduK8nMAtGoBo6hN
CMkl665Zb0sK
-----END CERTIFICATE-----
";

/// A self-signed certificate for `db.example` with an RSA key of 1024 bits.
const SHORT_KEY: &str = "\
-----BEGIN CERTIFICATE-----
MIICCDCCAXGgAwIBAgIUUZxYIlo4sQ/3TW7e5DlSJUah/yUwDQYJKoZIhvcNAQEL
BQAwFTETMBEGA1UEAwwKZGIuZXhhbXBsZTAgFw0yNjExMjgwNjU4MjhaGA8yMTI2
MTEwNDA2NTgyOFowFTETMBEGA1UEAwwKZGIuZXhhbXBsZTCBnzANBgkqhkiG9w0B
AQEFAAOBjQAwgYkCgYEA9Ja0bLUSQs7iWx7GXke0WXITNIvgIqViyXicmb85fD9c
jqr5tA5AkIBPXPB2q1Z4523BiPnlIYy3xN24DCoFlCIEvdgFNhoIT8CiW0JFkmlE
YtuhK0aRp1CKqz7B4ZwnJ9ILci+2WSaqb40gtuSV2F+UC29+fnNLCDB3xym3Ti8C
AwEAAaNTMFEwHQYDVR0OBBYEFKX/ZI+UDEmApr+XJILzGX674SVRMB8GA1UdIwQY
MBaAFKX/ZI+UDEmApr+XJILzGX674SVRMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZI
hvcNAQELBQADgYEAPuJB9D4jUoFlto3R/xDib88NUycxXeYbfi8cvE2Stnv140IJ
Vj4mfrnn0Ruy2hBDmaN+dWeRI5WO/ulUxpauYsyckkhspo0bj4hokaRDg/cPcm5f
FQhqmDlQC5tFL6u0Pcv0M+fMyvp5KcemRB+5xZfrVyrjmIG+yYYp5nrz8jE=
-----END CERTIFICATE-----
";

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

/// Returns the note of a certificate that is accepted for `host`, or the error with its remedy.
fn verified(roots: &str, leaf: &str, host: &str) -> Result<Option<&'static str>, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), roots).unwrap();
    let (provider, note) = (Arc::new(ring::default_provider()), Note::default());
    let roots = Roots::read(file.path()).unwrap();
    let verifier = Verifier { roots: Some(roots), provider, note: Some(Arc::clone(&note)) };
    let host = ServerName::try_from(host).unwrap();
    let now = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
    let place = file.path().display().to_string();
    match verifier.verify_server_cert(&der(leaf), &[], &host, &[], now) {
        Ok(_) => Ok(note.get().copied()),
        Err(error) => Err(text_of(&std::io::Error::other(error)).replace(&place, "FILE")),
    }
}

fn params(common_name: &str, names: &[&str]) -> CertificateParams {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

fn of_authority(mut params: CertificateParams) -> CertificateParams {
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn self_signed(params: &CertificateParams) -> Certificate {
    params.self_signed(&KeyPair::generate().unwrap()).unwrap()
}

/// A root, and what it signs.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let (params, key) = (of_authority(params(name, &[])), KeyPair::generate().unwrap());
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    fn signed(&self, params: &CertificateParams) -> String {
        params.signed_by(&KeyPair::generate().unwrap(), &self.issuer).unwrap().pem()
    }
}

/// Goal: what `psql` accepts by verify-full is accepted: the server's own certificate as the root,
/// marked as an authority or not, and the common name where there is no other.
#[test]
fn certificates_that_psql_accepts_are_accepted() {
    let root = Authority::new("root");
    let own = [
        of_authority(params("db.example", &[])),
        params("db.example", &[]),
        of_authority(params("any", &["db.example"])),
        params("any", &["*.example"]),
    ];
    for (number, params) in own.iter().enumerate() {
        let pem = self_signed(params).pem();
        let note = verified(&pem, &pem, "db.example").unwrap();
        assert_eq!(note.is_some_and(|it| it.contains("common name")), number < 2, "{number}");
        let signed = root.signed(params);
        assert_eq!(verified(&root.pem, &signed, "db.example").unwrap(), note, "{number}");
    }
    let note = verified(ROOT, VERSION_1, "db.example").unwrap();
    assert!(note.is_some_and(|it| it.contains("common name")));
    let both = format!("{}{ROOT}", root.pem);
    assert!(verified(&both, VERSION_1, "db.example").is_ok(), "any root of the file");
}

#[test]
fn addresses_are_compared_with_addresses_and_as_psql_does_with_names() {
    for (params, note) in [
        (params("any", &["127.0.0.1"]), None),
        (params("127.0.0.1", &["db.example"]), Some("common name")),
    ] {
        let pem = self_signed(&params).pem();
        let found = verified(&pem, &pem, "127.0.0.1").unwrap();
        assert_eq!(found.is_some(), note.is_some(), "{found:?}");
    }
    let pem = self_signed(&params("127.0.0.1", &["127.0.0.2"])).pem();
    let error = verified(&pem, &pem, "127.0.0.1").unwrap_err();
    assert!(error.contains("is for 127.0.0.2, not for `127.0.0.1`"), "{error}");
}

/// Goal: the certificate that MySQL generates, whose name is no host, is verified by giving itself.
#[test]
fn a_certificate_of_no_host_is_verified_by_itself_alone() {
    let root = Authority::new("MySQL_Server_8.0.31_Auto_Generated_CA_Certificate");
    let name = "MySQL_Server_8.0.31_Auto_Generated_Server_Certificate";
    let leaf = root.signed(&params(name, &[]));
    let note = verified(&leaf, &leaf, "db.example").unwrap();
    assert!(note.is_some_and(|it| it.contains("names no host")));
    let error = verified(&root.pem, &leaf, "db.example").unwrap_err();
    assert!(error.contains("names no host (CN=MySQL_Server"), "{error}");
    assert!(error.contains("pin the certificate by giving it as the root"), "{error}");
    let other = root.signed(&params(name, &[]));
    assert!(verified(&leaf, &other, "db.example").is_err(), "the same name, another key");
}

/// Goal: what is wrong is one sentence with the remedy, and no debug text.
#[test]
fn a_certificate_that_is_not_accepted_has_its_remedy() {
    let root = Authority::new("root");
    let other = Authority::new("root");
    let (mut expired, mut early) = (params("a", &["db.example"]), params("a", &["db.example"]));
    expired.not_after = date_time_ymd(2020, 1, 1);
    early.not_before = date_time_ymd(2090, 1, 1);
    let mut client = params("a", &["db.example"]);
    client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let good = params("a", &["db.example"]);
    let (own, pem) = (self_signed(&good).pem(), root.pem.as_str());
    let cases = [
        (pem, root.signed(&expired), "expired on Jan  1 ", "renew it"),
        (pem, root.signed(&early), "not valid before Jan  1 ", "set the clock"),
        (pem, root.signed(&client), "not for servers", "serverAuth"),
        (pem, other.signed(&good), "has the key that signed", "give the root certificate of"),
        (
            ROOT,
            root.signed(&good),
            "in FILE has the key",
            "of `CN=root`, or the server's certificate",
        ),
        (ROOT, own, "no certificate in FILE", "or the server's certificate itself"),
        (
            pem,
            root.signed(&params("a", &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"])),
            "is for a, b, c, d, e, f, g, h and 2 more, not for `db.example`",
            "write a host",
        ),
        (
            pem,
            root.signed(&params("db", &[])),
            "is for `db`, not for `db.example`",
            "subjectAltName",
        ),
        (
            RSA_ROOT,
            BY_SHA1.to_owned(),
            "a signature by SHA-1",
            "give the server a certificate with RSA",
        ),
        (pem, VERSION_1.to_owned(), "which `CN=Test root` issued", "give the root"),
    ];
    for (roots, leaf, what, remedy) in cases {
        let error = verified(roots, &leaf, "db.example").unwrap_err();
        assert!(error.contains(what) && error.contains(remedy), "{what}: {error}");
        assert!(!error.contains("Error") && !error.contains("Other("), "{error}");
    }
    for params in [expired, early, client] {
        let own = self_signed(&params).pem();
        assert!(verified(&own, &own, "db.example").is_err(), "a pinned one is checked too");
    }
}

/// Goal: a root of the file does not make others than those it signed trusted.
#[test]
fn no_other_certificate_is_trusted_by_a_root_of_the_same_name() {
    let (root, other) = (Authority::new("root"), Authority::new("root"));
    let of_authority = of_authority(params("db.example", &["db.example"]));
    let error = verified(&root.pem, &other.signed(&of_authority), "db.example").unwrap_err();
    assert!(error.contains("has the key that signed"), "{error}");
    // A leaf that is given as the root signs nothing.
    let key = KeyPair::generate().unwrap();
    let leaf = params("leaf", &["db.example"]);
    let pem = leaf.self_signed(&key).unwrap().pem();
    let signed = Authority { pem: pem.clone(), issuer: Issuer::new(leaf, key) };
    for below in [of_authority, params("db.example", &["db.example"])] {
        assert!(verified(&pem, &signed.signed(&below), "db.example").is_err());
    }
    assert!(verified(&pem, &pem, "db.example").is_ok());
}

#[test]
fn a_weak_key_is_named() {
    let parsed = der(SHORT_KEY);
    let parsed = super::signature::parse(&parsed).unwrap();
    let weakness = super::weakness::weakness(&parsed);
    assert_eq!(weakness.as_deref(), Some("an RSA key of 1024 bits"));
}

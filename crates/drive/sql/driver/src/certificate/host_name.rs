//! Whether a certificate is for a host.

use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;

use super::fault::CertificateFault;

/// Most names of a certificate that an error shows: one of a provider may have a hundred.
const NAMES_SHOWN: usize = 8;
/// Note on a certificate without names in its subjectAltName.
const BY_COMMON_NAME: &str = "the server's certificate names its host in the common name alone, \
                              which newer clients refuse: renew it with a subjectAltName";
/// Note on an address that is written as a name.
const AS_DNS: &str = "the server's certificate has its address as a DNS name, which newer clients \
                      refuse: renew it with the address as IP in its subjectAltName";
/// Note on a certificate that is the root given and is for no host.
const PINNED: &str = "the server's certificate names no host: it is trusted because it is the one \
                      given as the root";

/// What decides whether a certificate is for a host, besides its names.
pub(super) struct Trust {
    /// Whether the certificate itself is among the roots given.
    pub(super) is_pinned: bool,
    /// Whether a certificate above it limits the names that it may have.
    pub(super) is_constrained: bool,
}

/// Checks that a trusted certificate is for `host`; returns a note on how it names it.
///
/// The common name counts where no subjectAltName is of the host's kind, as in `psql`. A
/// certificate that is itself the root given proves the server whatever its name; one that names
/// another host is refused all the same.
///
/// Source: Postgres' source, `pgtls_verify_peer_name_matches_certificate_guts` and
/// `wildcard_certificate_match`.
pub(super) fn verify(
    certificate: &CertificateDer<'_>,
    parsed: &X509Certificate<'_>,
    host: &ServerName<'_>,
    trust: &Trust,
) -> Result<Option<&'static str>, CertificateFault> {
    let name = host.to_str();
    let is_for = |it: ParsedCertificate<'_>| verify_server_name(&it, host).is_ok();
    if ParsedCertificate::try_from(certificate).is_ok_and(is_for) {
        return Ok(None);
    }
    let is_address = matches!(host, ServerName::IpAddress(_));
    let names = alternative_names(parsed)?;
    // WebPKI takes no pattern of all names below a single label.
    let is_match = |it: &AlternativeName| !it.is_address && matches(&it.text, &name, is_address);
    if !is_address && names.iter().any(is_match) {
        return Ok(None);
    }
    if is_address && names.iter().any(|it| it.text == name && !it.is_address) {
        return Ok(Some(AS_DNS));
    }
    let common_name = parsed.subject().iter_common_name().next();
    let common_name = common_name.and_then(|it| it.as_str().ok()).unwrap_or_default();
    let has_names = names.iter().any(|it| it.is_address == is_address);
    if !has_names && !trust.is_constrained && matches(common_name, &name, is_address) {
        return Ok(Some(BY_COMMON_NAME));
    }
    let host = name.into_owned();
    match (names.is_empty(), is_host_name(common_name)) {
        (true, false) if trust.is_pinned => Ok(Some(PINNED)),
        (true, false) => {
            Err(CertificateFault::NoHost { host, subject: parsed.subject().to_string() })
        }
        (true, true) => {
            Err(CertificateFault::OtherHost { host, names: format!("`{common_name}`") })
        }
        (false, _) => {
            let more = names.len().saturating_sub(NAMES_SHOWN);
            let shown: Vec<_> = names.into_iter().take(NAMES_SHOWN).map(|it| it.text).collect();
            let end = if more > 0 { format!(" and {more} more") } else { String::new() };
            Err(CertificateFault::OtherHost { host, names: shown.join(", ") + &end })
        }
    }
}

/// A name or an address of a subjectAltName.
struct AlternativeName {
    text: String,
    is_address: bool,
}

/// Returns the names and addresses of hosts in a subjectAltName; none without one.
fn alternative_names(
    certificate: &X509Certificate<'_>,
) -> Result<Vec<AlternativeName>, CertificateFault> {
    let found = certificate.subject_alternative_name();
    let Some(found) = found.map_err(|_why| CertificateFault::Unreadable)? else {
        return Ok(Vec::new());
    };
    let name = |name: &GeneralName<'_>| {
        if let GeneralName::DNSName(text) = name {
            return Some(AlternativeName { text: (*text).to_owned(), is_address: false });
        }
        let GeneralName::IPAddress(bytes) = name else { return None };
        let address: Option<std::net::IpAddr> = match bytes.len() {
            4 => <[u8; 4]>::try_from(*bytes).ok().map(Into::into),
            _ => <[u8; 16]>::try_from(*bytes).ok().map(Into::into),
        };
        let text = address.map_or_else(|| "an address".to_owned(), |it| it.to_string());
        Some(AlternativeName { text, is_address: true })
    };
    Ok(found.value.general_names.iter().filter_map(name).collect())
}

/// Returns whether a common name is that of a host, or a pattern of names with one more label.
fn matches(common_name: &str, host: &str, is_address: bool) -> bool {
    let suffix = common_name.strip_prefix('*').filter(|it| it.starts_with('.') && it.len() > 1);
    let Some(suffix) = suffix.filter(|_| !is_address) else {
        return common_name.eq_ignore_ascii_case(host);
    };
    let label = host.len().checked_sub(suffix.len()).and_then(|at| host.split_at_checked(at));
    label.is_some_and(|(label, rest)| {
        !label.is_empty() && !label.contains('.') && rest.eq_ignore_ascii_case(suffix)
    })
}

/// Returns whether a text can be the name of a host, a pattern or an address.
///
/// Source: RFC 952 and RFC 1123, section 2.1: letters, digits and hyphens.
fn is_host_name(text: &str) -> bool {
    let may_be = |c: char| c.is_ascii_alphanumeric() || ['-', '.', '*', ':'].contains(&c);
    !text.is_empty() && text.chars().all(may_be)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_names_are_compared_as_psql_does() {
        for (common_name, host, is_for) in [
            ("db.example", "DB.Example", true),
            ("*.example", "db.example", true),
            ("*.example", "a.db.example", false),
            ("*.example", ".example", false),
            ("*.example", "example", false),
            ("*", "db", false),
            ("", "db", false),
            ("db.example\0.evil", "db.example", false),
        ] {
            assert_eq!(matches(common_name, host, false), is_for, "{common_name} for {host}");
        }
        assert!(matches("127.0.0.1", "127.0.0.1", true) && !matches("*.0.0.1", "127.0.0.1", true));
    }

    #[test]
    fn generated_names_are_no_hosts() {
        assert!(!is_host_name("MySQL_Server_8.0.31_Auto_Generated_Server_Certificate"));
        assert!(!is_host_name("") && !is_host_name("MariaDB Server"));
        assert!(is_host_name("db-1.example") && is_host_name("*.example") && is_host_name("::1"));
    }
}

//! Encrypted connections.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use engine::conformance::wait_until;
use model::{Address, Endpoint, LoginOptions, ServerRole, Tls};

use crate::calls::{just_call, open_error, statements};
use crate::newest::newest;
use crate::test_server::{TestServer, open, spec};

const SWITCH_ON: [&str; 2] = ["ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"];
const RULES: &str = "hostssl all all all scram-sha-256\nlocal all all trust\n";

/// Writes a certificate for that host, and its key, where the server reads them.
fn certify(data: &Path, host: &str) -> PathBuf {
    let made = rcgen::generate_simple_self_signed([host.to_owned()]).unwrap();
    let owner = fs::metadata(data).unwrap();
    let certificate = data.join("server.crt");
    let key = data.join("server.key");
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    for file in [&certificate, &key] {
        chown(file, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    certificate
}

/// Returns the endpoint of a server, as a foreign one, with that encryption.
fn encrypted(server: &TestServer, host: &str, tls: Tls) -> Endpoint {
    let endpoint = server.endpoint();
    let Address::Tcp { port, .. } = endpoint.address else { panic!("{endpoint:?}") };
    let address = Address::Tcp { host: host.to_owned(), port, tls };
    Endpoint { address, is_foreign: true, ..endpoint }
}

/// Returns what an address demands of each login.
fn stated(options: &str, role: Option<ServerRole>) -> LoginOptions {
    let session = [("options".to_owned(), options.to_owned())].into();
    LoginOptions { session, role, ..LoginOptions::default() }
}

/// Checks that what an address states of logins is obeyed by that server.
fn check_logins(server: &TestServer, dir: &Path) {
    let with = |tls, login| {
        let endpoint = Endpoint { login, ..encrypted(server, "127.0.0.1", tls) };
        let engine = open(&spec(dir, endpoint, None))?;
        let options = engine.effective_options()?;
        engine.close().map(|()| options)
    };
    let roles = [None, Some(ServerRole::ReadWrite), Some(ServerRole::Primary)];
    for role in roles {
        let options = with(Tls::Unverified, stated("-c work_mem=3MB", role)).unwrap();
        assert_eq!(options.get("work_mem"), Some("3MB"), "{role:?}");
    }
    let read_only = "-c default_transaction_read_only=on";
    let error = with(Tls::Unverified, stated(read_only, roles[1])).unwrap_err().to_string();
    assert!(error.contains("takes no writes") && error.contains("read-write"), "{error}");
    let bound = LoginOptions { binds_channel: true, ..LoginOptions::default() };
    with(Tls::Unverified, bound).unwrap();
}

/// Goal: an encrypted connection verifies what its address demands, and errors have the remedy.
#[test]
fn connections_are_encrypted_and_certificates_verified() {
    let Some(program) = newest() else { return };
    let server = TestServer::new(&program, &[("assay.transport", "tcp")]);
    let dir = tempfile::tempdir().unwrap();
    let error = |tls| {
        let endpoint = encrypted(&server, "127.0.0.1", tls);
        open_error(&spec(dir.path(), endpoint, None)).to_string()
    };
    assert!(error(Tls::Unverified).contains("has no TLS"));
    let reach = |host, tls| {
        let engine = open(&spec(dir.path(), encrypted(&server, host, tls), None))?;
        let options = engine.effective_options()?;
        let transport = options.get("assay.transport").map(str::to_owned);
        engine.close().map(|()| transport.unwrap_or_default())
    };
    for tls in [Tls::Preferred, Tls::Allowed] {
        assert_eq!(reach("127.0.0.1", tls).unwrap(), "tcp");
    }

    let data = &server.running.site.data;
    let roots = certify(data, "127.0.0.1");
    fs::write(data.join("pg_hba.conf"), RULES).unwrap();
    let application = Some(statements(&SWITCH_ON));
    let engine = open(&spec(dir.path(), server.endpoint(), application)).unwrap();
    let mut session = engine.session().unwrap();
    for number in 0..2 {
        just_call(&mut *session, number).unwrap();
    }
    drop(session);
    engine.close().unwrap();

    // The reload takes effect a moment later.
    assert!(wait_until(|| reach("127.0.0.1", Tls::Unverified).is_ok()));
    for tls in [Tls::Unverified, Tls::Preferred, Tls::Allowed] {
        assert_eq!(reach("127.0.0.1", tls).unwrap(), "tls, certificate not verified");
    }
    let transport = reach("localhost", Tls::VerifiedIssuer(roots.clone())).unwrap();
    assert_eq!(transport, "tls, issuer of the certificate verified, host not");
    let transport = reach("127.0.0.1", Tls::Verified(roots.clone())).unwrap();
    assert_eq!(transport, "tls, certificate verified");

    let plain = error(Tls::Off);
    assert!(plain.contains("sslmode=require"), "{plain}");
    let other = dir.path().join("other.crt");
    fs::rename(certify(dir.path(), "127.0.0.1"), &other).unwrap();
    for tls in [Tls::Verified(other.clone()), Tls::VerifiedIssuer(other)] {
        let unknown = error(tls);
        assert!(unknown.contains("has the key that signed the server"), "{unknown}");
    }
    let wrong = reach("localhost", Tls::Verified(roots)).unwrap_err().to_string();
    assert!(wrong.contains("is for 127.0.0.1, not for `localhost`"), "{wrong}");
    let unreadable = error(Tls::Verified(data.join("pg_hba.conf")));
    assert!(unreadable.contains("pg_hba.conf"), "{unreadable}");
    check_logins(&server, dir.path());
    server.stop();
}

//! SQL of the init file: the superuser's password.

use model::Password;
use server::{LOOPBACK, Site};
use sha1::{Digest as _, Sha1};

use super::release::{Flavour, Release};
use super::settings::Server;

/// Keeps the statements out of the binary log.
const WITHOUT_BINLOG: &str = "SET sql_log_bin = 0;\n";

/// Returns the statements that give `root` its password and remove users without one.
///
/// The server runs them before it accepts a connection, one a line, and logs none of them: MySQL
/// writes passwords to no log, and the others get its hash. Source: MySQL's reference manual,
/// "Server System Variables", `init_file`; "Password Hashing in MySQL".
///
/// By TCP the user also has the address in the place of its host: names may not be resolved. `%` is
/// every address.
pub(super) fn require_password(server: Server, site: &Site, is_tcp: bool) -> Password {
    let Password(text) = &site.password;
    let host = if site.address.is_some() { "%" } else { LOOPBACK };
    if server.flavour == Flavour::Mysql && server.release >= Release(5, 7, 6) {
        let set = format!("ALTER USER 'root'@'localhost' IDENTIFIED BY '{text}';\n");
        let by_tcp = format!(
            "CREATE USER IF NOT EXISTS 'root'@'{host}';\n\
             ALTER USER 'root'@'{host}' IDENTIFIED BY '{text}';\n\
             GRANT ALL ON *.* TO 'root'@'{host}' WITH GRANT OPTION;\n"
        );
        let by_tcp = if is_tcp { by_tcp } else { String::new() };
        return Password(format!("{WITHOUT_BINLOG}{set}{by_tcp}"));
    }
    let hash = Sha1::digest(Sha1::digest(text));
    let hash: String = hash.iter().map(|byte| format!("{byte:02X}")).collect();
    let set = format!("SET PASSWORD FOR 'root'@'localhost' = '*{hash}';\n");
    // Their set-up also creates users without a name, or without a password at loopback addresses.
    let others = match server.flavour {
        Flavour::Mysql => {
            "DELETE FROM mysql.user WHERE User <> 'root' OR Host <> 'localhost';\n\
             FLUSH PRIVILEGES;\n"
        }
        Flavour::Mariadb => {
            "DROP USER IF EXISTS ''@'localhost', 'root'@'127.0.0.1', 'root'@'::1';\n"
        }
    };
    let by_tcp = format!(
        "GRANT ALL ON *.* TO 'root'@'{host}' IDENTIFIED BY PASSWORD '*{hash}' \
         WITH GRANT OPTION;\n"
    );
    let by_tcp = if is_tcp { by_tcp } else { String::new() };
    Password(format!("{WITHOUT_BINLOG}{set}{others}{by_tcp}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_set_by_the_statement_of_each_version() {
        let sql = |flavour, release| {
            let site = Site { password: Password("password".to_owned()), ..Site::default() };
            require_password(Server { flavour, release }, &site, false).0
        };
        // Source: MySQL's reference manual, "Password Hashing in MySQL": the hash of `password`.
        let hash = "= '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19';";
        let old = sql(Flavour::Mysql, Release(5, 6, 24));
        assert!(old.contains(hash) && old.contains("FLUSH PRIVILEGES;"), "{old}");
        let mariadb = sql(Flavour::Mariadb, Release(10, 11, 6));
        assert!(mariadb.contains(hash) && mariadb.contains("DROP USER IF EXISTS"), "{mariadb}");
        let new = sql(Flavour::Mysql, Release(8, 0, 31));
        assert!(new.contains("ALTER USER 'root'@'localhost' IDENTIFIED BY 'password';"), "{new}");
        assert!([old, new].iter().all(|sql| !sql.contains(LOOPBACK)));
    }

    #[test]
    fn clients_on_other_machines_need_the_password_too() {
        let address = server::ListenAddress { host: "db1".to_owned(), ip: [10, 0, 0, 7].into() };
        let password = Password("password".to_owned());
        let site = Site { password, address: Some(address), ..Site::default() };
        let sql = |flavour, release| require_password(Server { flavour, release }, &site, true).0;
        for (flavour, release) in [
            (Flavour::Mysql, Release(5, 6, 24)),
            (Flavour::Mysql, Release(8, 0, 31)),
            (Flavour::Mariadb, Release(10, 11, 6)),
        ] {
            let sql = sql(flavour, release);
            assert!(sql.contains("'root'@'%' IDENTIFIED BY"), "{sql}");
        }
        let mariadb = sql(Flavour::Mariadb, Release(10, 11, 6));
        assert!(mariadb.contains("DROP USER IF EXISTS ''@'localhost', 'root'@'127.0.0.1'"));
    }
}

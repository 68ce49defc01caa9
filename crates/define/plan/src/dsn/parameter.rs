//! What is done with the parameters of an address.

use super::encryption::Mode;

/// Parameters with one effect.
pub(super) struct Parameters {
    /// Names, separated by spaces.
    pub(super) names: &'static str,
    /// What is done with each.
    pub(super) effect: Effect,
}

/// Returns a row of a table of parameters.
pub(super) const fn row(names: &'static str, effect: Effect) -> Parameters {
    Parameters { names, effect }
}

/// What a parameter does.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// The user.
    User,
    /// The password, or the variable that holds it.
    Password,
    /// The host, or the directory of a socket.
    Host,
    /// The port.
    Port,
    /// The database.
    Database,
    /// The file of a socket.
    Socket,
    /// Whether the server is reached by TCP or by a unix socket.
    Transport,
    /// Encryption.
    Encryption(EncryptionPart),
    /// The longest wait of a login.
    Timeout,
    /// A parameter of the session, by the name that the server has for it.
    Session(&'static str),
    /// What the server must be.
    Role,
    /// Whether the login is bound to its connection.
    Binding,
    /// The methods by which the server may verify the login.
    Methods,
    /// It may have these values, which state what Assay does; the reason why no others.
    Only(&'static [&'static str], &'static str),
    /// No effect, for this reason.
    Ignored(&'static str),
    /// Refused, with this remedy.
    Refused(&'static str),
}

/// What a parameter states of the encryption.
#[derive(Clone, Copy)]
pub(super) enum EncryptionPart {
    /// How much is encrypted and verified.
    Mode(&'static [ModeName]),
    /// A part of it, of older drivers.
    Switch(Switch),
    /// [`Switch::Encrypt`], or how much is encrypted and verified.
    SwitchOr(&'static [ModeName]),
    /// The file of roots.
    Roots,
    /// The file of the client's certificate.
    Certificate,
    /// The file of its key.
    Key,
    /// Whether a server gets the password without encryption.
    Waiver,
}

/// A value of a parameter that states how much is encrypted, with its meaning.
pub(super) type ModeName = (&'static str, Mode);

/// A switch of older drivers.
#[derive(Clone, Copy)]
pub(super) enum Switch {
    Encrypt,
    Require,
    Verify,
}

/// Returns the effect of a parameter; spelling differs in case, `-` and `_`.
pub(super) fn effect(table: &[Parameters], name: &str) -> Option<Effect> {
    let name = plain(name);
    let known = |row: &&Parameters| row.names.split(' ').any(|known| plain(known) == name);
    table.iter().find(known).map(|row| row.effect)
}

/// Returns every name of a table.
pub(super) fn names(table: &'static [Parameters]) -> impl Iterator<Item = &'static str> {
    table.iter().flat_map(|row| row.names.split(' '))
}

/// Returns a name by which spellings are compared.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|sign| !"-_".contains(*sign)).collect::<String>().to_ascii_lowercase()
}

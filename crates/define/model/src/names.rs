//! Names of an enum's variants, in files, records and tables.

/// Names the variants of an enum: `ALL`, `name`, `Display` and `FromStr`.
#[macro_export]
macro_rules! names {
    ($type:ident, $what:literal: $($variant:ident $name:literal),+ $(,)?) => {
        impl $type {
            /// Every variant, in the order of tables.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name as written in files and records.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                let found = Self::ALL.into_iter().find(|item| item.name() == text);
                found.ok_or_else(|| {
                    let names = [$($name),+].join(", ");
                    format!(concat!("`{}` is not ", $what, ": write one of {}"), text, names)
                })
            }
        }
    };
}
pub(crate) use names;

//! Codes of the rules whose findings the runner records.

/// Declares one constant for each code, named and written alike.
macro_rules! codes {
    ($($code:ident)*) => {
        $(
            #[doc = concat!("Rule `", stringify!($code), "` of the crate `lint`.")]
            pub const $code: &str = stringify!($code);
        )*

        /// Every code that the runner records.
        pub const ALL: &[&str] = &[$($code),*];
    };
}

codes! { A003 A004 A008 A009 A011 A018 A021 A041 A053 A059 }

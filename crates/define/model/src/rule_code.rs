//! Codes of the rules that findings are recorded under.

/// Declares one constant for each code, named and written alike.
macro_rules! codes {
    ($($code:ident)*) => {
        $(
            #[doc = concat!("Rule `", stringify!($code), "` of the crate `lint`.")]
            pub const $code: &str = stringify!($code);
        )*

        /// Every code.
        pub const ALL: &[&str] = &[$($code),*];
    };
}

codes! {
    A001 A002 A003 A004 A005 A006 A007 A008 A009 A010 A011 A012 A013 A014 A015 A018 A019 A020 A021
    A022 A023 A024 A026 A027 A028 A029 A030 A031 A032 A033 A034 A035 A036 A037 A038 A039 A041 A042
    A043 A044 A045 A046 A047 A048 A049 A050 A051 A052 A053 A054 A055 A056 A057 A058 A059 A060 A061 A062 A063 A064
    A065 A066 A067 A068 A069 A070 A071 A072
}

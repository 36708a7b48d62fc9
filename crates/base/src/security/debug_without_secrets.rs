//! `Debug` for types that hold secrets: what is written by accident into a log or a message of a panic names none.

/// Implements `Debug` with the name of the type and those of its fields that may be shown.
#[macro_export]
macro_rules! debug_without_secrets {
    ($type:ident { $($field:ident),* }) => {
        impl ::std::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($field), &self.$field))*
                    .finish_non_exhaustive()
            }
        }
    };
}

pub use debug_without_secrets;

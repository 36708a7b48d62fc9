//! The macro for enums whose values are strings in the database and on the wire.

/// An enum whose values are words, the same in the database and on the wire.
#[macro_export]
macro_rules! string_enum {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[schemars(inline)]
        pub enum $name { $(#[serde(rename = $word)] $variant),+ }

        impl $name {
            #[allow(dead_code)]
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            #[allow(dead_code)]
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            pub fn parse(text: &str) -> Option<$name> {
                match text { $($word => Some($name::$variant),)+ _ => None }
            }
        }

        impl db::Arg for $name {
            fn value(&self) -> db::Value<'_> {
                db::Value::Text(self.as_str())
            }
        }

        impl db::FromColumn for $name {
            const WANTED: &'static str = concat!("a word for ", stringify!($name));
            fn from_column(column: db::Column<'_>) -> Option<Self> {
                match column {
                    db::Column::Text(text) => $name::parse(text),
                    _ => None,
                }
            }
        }
    };
}

pub use string_enum;

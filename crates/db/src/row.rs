//! The macro for structs that are read from a row's columns.

/// Declares a struct, its `COLUMNS` and its [`FromRow`](crate::FromRow) from one list of fields, so
/// that a statement names exactly the columns that are read, in their order:
///
/// ```
/// db::row! {
///     /// A message in a list.
///     #[derive(Debug)]
///     pub struct Listed from "m" {
///         pub id: i64,
///         pub recipients: db::Json<Vec<String>>,
///         pub asks: bool = "m.request IS NOT NULL",
///     } later {
///         pub files: Vec<String>,
///     }
/// }
///
/// assert_eq!(Listed::COLUMNS, "m.id, m.recipients, m.request IS NOT NULL");
/// ```
///
/// A field is the column of its name in the table after `from`, unless it has an expression. Fields
/// after `later` have no column: they begin with their default, and the loading function fills
/// them.
#[macro_export]
macro_rules! row {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident from $table:literal {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident: $type:ty $(= $expression:literal)?
            ),+ $(,)?
        } $(later {
            $(
                $(#[$later_meta:meta])*
                $later_vis:vis $later:ident: $later_type:ty
            ),+ $(,)?
        })?
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type,)+
            $($($(#[$later_meta])* $later_vis $later: $later_type,)+)?
        }

        impl $name {
            /// The columns that the struct is read from, in its order.
            $vis const COLUMNS: &'static str =
                $crate::row!(@columns $table, $($field $($expression)?),+);
        }

        impl $crate::FromRow for $name {
            fn from_row(
                row: &mut $crate::Row<'_>,
            ) -> ::std::result::Result<Self, $crate::StoreError> {
                ::std::result::Result::Ok($name {
                    $($field: row.take_field(
                        concat!(stringify!($name), ".", stringify!($field)),
                    )?,)+
                    $($($later: ::std::default::Default::default(),)+)?
                })
            }
        }
    };
    (@columns $table:literal, $first:ident $($first_expression:literal)?
        $(, $field:ident $($expression:literal)?)*) => {
        concat!(
            $crate::row!(@column $table, $first $($first_expression)?)
            $(, ", ", $crate::row!(@column $table, $field $($expression)?))*
        )
    };
    (@column $table:literal, $field:ident) => {
        concat!($table, ".", stringify!($field))
    };
    (@column $table:literal, $field:ident $expression:literal) => {
        $expression
    };
}

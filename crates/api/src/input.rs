//! The macro that declares what an operation takes in.

/// Declares the input of an operation once: the struct that it is parsed into, and `FIELDS`, from
/// which the checks, `openapi.json`, the tool's schema and the developer site follow.
///
/// ```text
/// input! {
///     pub struct ReplyInput {
///         /// Plain text.
///         #[required(filled(REPLY_CHARS))]
///         pub body: String,
///         /// true sends after the undo window; needs send scope.
///         #[optional(BOOLEAN)]
///         pub send: bool = false,
///         #[shared(SEND_AT)]
///         pub send_at: Option<Moment>,
///     } beside {
///         pub id: String,
///     }
/// }
/// ```
///
/// The comment is the field's description for those who call, and its name in JSON is in camel
/// case. A field that is not required begins with the default of its type; what stands after `=` is
/// the default that callers are told. A shared field has its kind and description from a constant.
/// Fields after `beside` are no part of `FIELDS`: the id, which stands in the path, and what only the
/// app sets.
macro_rules! input {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:ident),+)])?
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $about:literal])*
                $(#[required($required:expr)])?
                $(#[optional($optional:expr)])?
                $(#[shared($shared:expr)])?
                $(#[serde($($serde:tt)+)])?
                $field_vis:vis $field:ident: $type:ty $(= $default:tt)?
            ),* $(,)?
        } $(beside {
            $(
                $(#[$beside_meta:meta])*
                $beside_vis:vis $beside:ident: $beside_type:ty
            ),+ $(,)?
        })?
    ) => {
        $(#[doc = $doc])*
        #[derive(serde::Deserialize $(, $($derive),+)?)]
        #[serde(rename_all = "camelCase")]
        $vis struct $name {
            $(
                $(#[doc = $about])*
                $(#[doc = concat!(" (`", stringify!($optional), "`)")] #[serde(default)])?
                $(#[doc = concat!("See `", stringify!($shared), "`.")] #[serde(default)])?
                $(#[serde($($serde)+)])?
                $field_vis $field: $type,
            )*
            $($($(#[$beside_meta])* $beside_vis $beside: $beside_type,)+)?
        }

        impl $name {
            $vis const FIELDS: &'static [$crate::fields::InputField] = &[
                $($crate::input::input!(
                    @field $field [$($about)*]
                    $(required $required)? $(optional $optional)? $(shared $shared)?
                    $(, $default)?
                )),*
            ];

            /// It as a field of another input.
            #[allow(dead_code)]
            $vis const KIND: $crate::fields::InputKind =
                $crate::fields::InputKind::Object($name::FIELDS);
        }
    };
    (@field $field:ident $about:tt $presence:ident $kind:expr, $default:tt) => {
        $crate::input::input!(@field $field $about $presence $kind)
            .or(|| serde_json::json!($default))
    };
    (@field $field:ident [] shared $shared:expr) => {
        $shared.with_name($crate::input::input!(@name $field))
    };
    (@field $field:ident [$($about:literal)+] $presence:ident $kind:expr) => {
        $crate::fields::InputField::$presence(
            $crate::input::input!(@name $field),
            $kind,
            // Each line of a comment begins with a space.
            concat!($($about),+).trim_ascii(),
        )
    };
    (@name $field:ident) => {{
        const NAME: [u8; $crate::input::camel_case_bytes(stringify!($field))] =
            $crate::input::camel_case(stringify!($field));
        match std::str::from_utf8(&NAME) {
            Ok(name) => name,
            Err(_) => panic!("a field's name is ASCII"),
        }
    }};
}

pub(crate) use input;

/// The length of a name of snake case in camel case.
pub const fn camel_case_bytes(name: &str) -> usize {
    let (name, mut at, mut bytes) = (name.as_bytes(), 0, 0);
    while at < name.len() {
        if name[at] != b'_' {
            bytes += 1;
        }
        at += 1;
    }
    bytes
}

/// `follow_up_at` as `followUpAt`.
pub const fn camel_case<const BYTES: usize>(name: &str) -> [u8; BYTES] {
    let (name, mut at, mut written) = (name.as_bytes(), 0, 0);
    let mut camel = [0; BYTES];
    while at < name.len() {
        if name[at] != b'_' {
            let begins_word = at > 0 && name[at - 1] == b'_';
            camel[written] = if begins_word { name[at].to_ascii_uppercase() } else { name[at] };
            written += 1;
        }
        at += 1;
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::fields::{
        BOOLEAN, InputField, InputKind, check_body, filled_text, integer, object_schema,
    };

    const SIZE: InputField = InputField::shared(integer(1, 9), "How large.");

    input! {
        #[derive(Debug)]
        struct ParcelInput {
            /// What is in it,
            /// in a word.
            #[required(filled_text(5))]
            content_name: String,
            /// Whether it breaks.
            #[optional(BOOLEAN)]
            fragile: bool = false,
            #[shared(SIZE)]
            size: Option<i64> = 3,
        } beside {
            id: String,
        }
    }

    #[test]
    fn one_declaration_gives_the_parser_the_checks_and_the_schema() {
        let body = json!({ "contentName": "Lamp", "size": 2.0 });
        let checked = check_body(ParcelInput::FIELDS, &body).expect("an input");
        let parcel: ParcelInput =
            serde_json::from_value(crate::operations::with_id(checked, Some("pcl_1")))
                .expect("a parcel");
        assert_eq!((parcel.content_name.as_str(), parcel.fragile), ("Lamp", false));
        assert_eq!((parcel.size, parcel.id.as_str()), (Some(2), "pcl_1"));

        let wrong = json!({ "fragile": 1, "size": 10 });
        let problems = check_body(ParcelInput::FIELDS, &wrong).expect_err("three problems");
        assert_eq!(
            problems.to_string(),
            "contentName: is required; fragile: must be true or false; \
             size: must be a whole number from 1 to 9"
        );

        let schema = object_schema(ParcelInput::FIELDS);
        assert_eq!(schema["required"], json!(["contentName"]));
        let properties = &schema["properties"];
        assert_eq!(properties["contentName"]["description"], "What is in it, in a word.");
        assert_eq!(properties["fragile"]["default"], false);
        assert_eq!(properties["size"]["default"], 3);
        assert_eq!(properties["size"]["description"], "How large.");
        assert_eq!(properties["id"], Value::Null);
        assert!(matches!(ParcelInput::FIELDS[2].kind, InputKind::Integer { min: 1, max: 9 }));
    }
}

//! A second look at a page that is written: a tree is built from it as browsers do, and whatever is
//! in the tree that should not have been written is taken out.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use ammonia::{Builder, UrlRelative};

use super::elements::TAGS;
use super::links::safe_target;
use super::{PageAddresses, attributes};

pub(super) fn guard(body: &str, addresses: &PageAddresses<'_>) -> String {
    let own = format!("{}/", addresses.pictures);
    let mut builder = Builder::default();
    builder
        .tags(TAGS.iter().copied().collect())
        .tag_attributes(HashMap::new())
        .generic_attributes(attributes::all().collect())
        .url_schemes(HashSet::from(["http", "https", "mailto", "tel"]))
        .url_relative(UrlRelative::PassThrough)
        .link_rel(None)
        .attribute_filter(move |tag, name, value| {
            let fits = match (tag, name) {
                ("img", "src") => is_own_picture(value, &own),
                (_, "src") => false,
                ("a", "href") => value.starts_with('#') || safe_target(value).is_some(),
                (_, "href") => false,
                (_, "style") => !value.contains(['<', '\\', '@']) && pictures_are_own(value, &own),
                _ => true,
            };
            fits.then_some(Cow::Borrowed(value))
        });
    builder.clean(body).to_string()
}

fn is_own_picture(address: &str, own: &str) -> bool {
    let number = address.strip_prefix(own);
    let number = number.map(|number| number.strip_prefix("remote/").unwrap_or(number));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

fn pictures_are_own(style: &str, own: &str) -> bool {
    style.split("url(").skip(1).all(|rest| {
        let address = rest.split(')').next().unwrap_or_default();
        is_own_picture(address.trim_matches('\''), own)
    })
}

#[cfg(test)]
mod tests {
    use super::super::RemotePictures;
    use super::*;

    #[test]
    fn what_should_not_have_been_written_is_taken_out() {
        let addresses = PageAddresses { pictures: "/p", remote: RemotePictures::Shown };
        for (body, left) in [
            (
                "<img src=\"/p/1\"><img src=\"/p/remote/2\">",
                "<img src=\"/p/1\"><img src=\"/p/remote/2\">",
            ),
            ("<img src=\"/p/../inbox\"><img src=\"https://x.example\">", "<img><img>"),
            ("<a href=\"/inbox\">x</a><a href=\"#x\">y</a>", "<a>x</a><a href=\"#x\">y</a>"),
            ("<p style=\"background:url(https://x.example)\">x</p>", "<p>x</p>"),
            (
                "<p style=\"background:url('/p/1')\">x</p>",
                "<p style=\"background:url('/p/1')\">x</p>",
            ),
            ("<p onclick=x srcset=y>x</p><svg><script>y</script></svg>", "<p>x</p>"),
        ] {
            assert_eq!(guard(body, &addresses), left, "{body}");
        }
    }
}

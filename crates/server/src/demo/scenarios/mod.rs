//! About forty conversations of a small maker of lamps and furniture, one file per theme, and the
//! files that their mails bring. Every name, firm and address is invented.

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::files::SampleFile;
use super::scenario::{Scenario, ScenarioAction};

const THEMES: [(&str, &str); 7] = [
    ("orders.toml", include_str!("orders.toml")),
    ("abroad.toml", include_str!("abroad.toml")),
    ("returns.toml", include_str!("returns.toml")),
    ("billing.toml", include_str!("billing.toml")),
    ("business.toml", include_str!("business.toml")),
    ("questions.toml", include_str!("questions.toml")),
    ("apart.toml", include_str!("apart.toml")),
];

const FILES: (&str, &str) = ("files.toml", include_str!("files.toml"));

/// All that the sample workspace is made of.
pub struct SampleData {
    /// The number of a story is its place.
    pub stories: Vec<Scenario>,
    files: Vec<SampleFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Theme {
    story: Vec<Scenario>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Files {
    file: Vec<SampleFile>,
}

static SAMPLE: LazyLock<Result<SampleData, String>> = LazyLock::new(|| {
    let mut stories = Vec::new();
    for theme in THEMES {
        stories.extend(parse::<Theme>(theme)?.story);
    }
    let data = SampleData { stories, files: parse::<Files>(FILES)?.file };
    let missing = data.attached_names().find(|name| data.file(name).is_none()).cloned();
    match missing {
        Some(missing) => Err(format!("{}: no file is named {missing}", FILES.0)),
        None => Ok(data),
    }
});

/// The error names the file and the line.
pub fn sample_data() -> Result<&'static SampleData, String> {
    SAMPLE.as_ref().map_err(String::clone)
}

impl SampleData {
    pub fn file(&self, name: &str) -> Option<&SampleFile> {
        self.files.iter().find(|file| file.name == name)
    }

    /// The names of the files that come with a mail.
    pub fn attached_names(&self) -> impl Iterator<Item = &String> {
        self.stories.iter().flat_map(|story| &story.steps).flat_map(|step| match &step.what {
            ScenarioAction::Mail { files, .. } => files.as_slice(),
            _ => &[],
        })
    }
}

fn parse<T: DeserializeOwned>((name, text): (&str, &str)) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
        format!("{name}:{line}: {}", error.message())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_file_can_be_read_and_every_attached_file_is_there() {
        let data = sample_data().expect("sample data");
        assert!((38..=45).contains(&data.stories.len()), "{}", data.stories.len());
        for file in &data.files {
            assert!(
                data.attached_names().any(|name| *name == file.name),
                "nobody sends {}",
                file.name
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_file_and_line() {
        let story = "[[story]]\ninbox = \"support\"\nfrom = [\"Ann\", \"ann@x.example\"]\n\
                     subject = \"Hello\"\n\n[[story.step]]\nat = \"5 minutes ago\"\n";
        let read = |step: &str| {
            let theme = parse::<Theme>(("a.toml", &format!("{story}{step}")));
            theme.map(|theme| theme.story.len())
        };
        assert_eq!(read("does = \"mail\"\ntext = \"Hi\"\n"), Ok(1));
        for wrong in [
            "does = \"mail\"\n",
            "does = \"mail\"\ntext = \"Hi\"\nhtlm = \"Hi\"\n",
            "does = \"male\"\ntext = \"Hi\"\n",
            "does = \"close\"\nby = \"nobody\"\n",
        ] {
            let error = read(wrong).unwrap_err();
            assert!(error.starts_with("a.toml:6: "), "{wrong}: {error}");
        }
        let error = parse::<Theme>(("a.toml", "[[story]]\ninbox = support\n")).map(|_| ());
        assert!(error.unwrap_err().starts_with("a.toml:2: "));
    }
}

//! Articles of other help desks' knowledge bases, from the saved answers of their APIs: Zammad, Chatwoot, Help Scout
//! Docs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use actions::writing::answer_folder::FolderAnswer;
use actions::writing::answers::AnswerInput;
use base::limits::{ANSWERS, megabytes};
use clap::ValueEnum;
use serde_json::Value;

use super::conversation::id;

/// Bytes of one saved answer.
const ARTICLE_FILE_BYTES: u64 = 50 * 1024 * 1024;
/// Files of a folder that are read.
const ARTICLE_FILES: usize = 5_000;

/// Whose knowledge base it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArticleSource {
    /// `POST /api/v1/knowledge_bases/init`, with the contents of the answers
    Zammad,
    /// `GET /api/v1/accounts/ID/portals/SLUG/articles`, each page
    Chatwoot,
    /// `GET /v1/articles/ID` of Docs, with `GET /v1/collections/ID/categories`
    Helpscout,
}

/// The articles of a file or a folder of saved answers.
pub fn read_articles(source: ArticleSource, path: &Path) -> Result<Vec<FolderAnswer>, String> {
    let mut saved = Vec::new();
    for path in json_files(path)? {
        let size =
            fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?.len();
        if size > ARTICLE_FILE_BYTES {
            let most = megabytes(ARTICLE_FILE_BYTES as i64);
            return Err(format!("{}: is larger than {most} MB", path.display()));
        }
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|_| format!("{}: is not JSON", path.display()))?;
        saved.push(value);
    }
    let articles = match source {
        ArticleSource::Zammad => zammad(&saved),
        ArticleSource::Chatwoot => chatwoot(&saved),
        ArticleSource::Helpscout => help_scout(&saved),
    };
    if articles.is_empty() {
        return Err(format!("{}: has no articles of that kind", path.display()));
    }
    Ok(articles.into_iter().take(ANSWERS as usize + 1).collect())
}

fn json_files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|ending| ending == "json"))
        .take(ARTICLE_FILES)
        .collect();
    files.sort();
    Ok(files)
}

/// What every one of them tells of an article.
struct Article {
    /// Its id there, with its language where one article has several.
    key: String,
    translates: Option<String>,
    title: String,
    body: String,
    language: String,
    section: String,
    is_public: bool,
}

impl Article {
    /// As an answer: the article is what the page says and what a reply can say.
    fn answer(self) -> Option<FolderAnswer> {
        let body = self.body.trim().to_owned();
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        (!body.is_empty() && !title.is_empty()).then(|| FolderAnswer {
            path: self.key,
            translates: self.translates,
            keeps_state: true,
            input: AnswerInput {
                title,
                help_body: body.clone(),
                body,
                language: self.language,
                section: self.section,
                audience: "everybody".to_owned(),
                // Whether it is public here is for the team to decide.
                help_state: if self.is_public { "review" } else { "draft" }.to_owned(),
                ..AnswerInput::default()
            },
        })
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// `en-us` as it is written here.
fn language(locale: &str) -> String {
    let code = locale.split(['-', '_']).next().unwrap_or_default().to_lowercase();
    if code.len() == 2 { code } else { String::new() }
}

/// Pages of articles: `{"payload": [{"id", "title", "content", "slug", "status", "category": {"name", "locale"}}]}`.
fn chatwoot(saved: &[Value]) -> Vec<FolderAnswer> {
    let articles = saved.iter().flat_map(|page| {
        let list = page["payload"].as_array().or(page.as_array());
        list.into_iter().flatten().chain(page.get("payload").filter(|one| one.is_object()))
    });
    let article = |value: &Value| {
        let category = &value["category"];
        let locale = [text(value, "locale"), text(category, "locale")];
        let status = &value["status"];
        Article {
            key: id(value, "id").unwrap_or_default(),
            translates: id(value, "associated_article_id"),
            title: text(value, "title"),
            body: text(value, "content"),
            language: language(
                locale.iter().find(|one| !one.is_empty()).map_or("", String::as_str),
            ),
            section: text(category, "name"),
            is_public: status == "published" || *status == 1,
        }
        .answer()
    };
    articles.filter_map(article).collect()
}

/// Articles and categories of Docs: `{"article": {"id", "name", "text", "status", "slug", "categories"}}` and
/// `{"categories": {"items": [{"id", "name"}]}}`.
fn help_scout(saved: &[Value]) -> Vec<FolderAnswer> {
    let mut sections: BTreeMap<String, String> = BTreeMap::new();
    for value in saved {
        for category in value["categories"]["items"].as_array().into_iter().flatten() {
            if let Some(id) = id(category, "id") {
                sections.insert(id, text(category, "name"));
            }
        }
    }
    let listed = saved.iter().flat_map(|value| {
        let several = value["articles"]["items"].as_array();
        value.get("article").into_iter().chain(several.into_iter().flatten())
    });
    let article = |value: &Value| {
        let categories = value["categories"].as_array();
        let section = categories
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .find_map(|id| sections.get(id).filter(|name| *name != "Uncategorized"));
        Article {
            key: id(value, "id").unwrap_or_default(),
            translates: None,
            title: text(value, "name"),
            body: mail::text_of_html(&text(value, "text")),
            language: String::new(),
            section: section.cloned().unwrap_or_default(),
            is_public: value["status"] == "published",
        }
        .answer()
    };
    listed.filter_map(article).collect()
}

/// Objects by kind and id, as they come for the editor: answers, their translations with contents, categories with
/// theirs, and locales.
fn zammad(saved: &[Value]) -> Vec<FolderAnswer> {
    let mut objects: BTreeMap<String, BTreeMap<String, &Value>> = BTreeMap::new();
    for value in saved {
        let kinds = value.get("assets").unwrap_or(value).as_object();
        for (kind, found) in kinds.into_iter().flatten() {
            for (id, object) in found.as_object().into_iter().flatten() {
                objects.entry(kind.clone()).or_default().insert(id.clone(), object);
            }
        }
    }
    let none = BTreeMap::new();
    let all = |kind: &str| objects.get(kind).unwrap_or(&none);
    let of = |kind: &str, object: &Value, name: &str| -> Option<&Value> {
        all(kind).get(&id(object, name)?).copied()
    };
    let locale = |translation: &Value| {
        let system = of("KnowledgeBaseLocale", translation, "kb_locale_id")
            .and_then(|own| of("Locale", own, "system_locale_id"));
        system.map(|system| language(&text(system, "locale"))).unwrap_or_default()
    };
    let section = |answer: &Value, translation: &Value| {
        let wanted = id(answer, "category_id")?;
        let named = all("KnowledgeBaseCategoryTranslation").values().find(|one| {
            id(one, "category_id").as_ref() == Some(&wanted)
                && one["kb_locale_id"] == translation["kb_locale_id"]
        });
        named.map(|named| text(named, "title"))
    };
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut articles = Vec::new();
    for (key, translation) in all("KnowledgeBaseAnswerTranslation") {
        let Some(answer) = of("KnowledgeBaseAnswer", translation, "answer_id") else { continue };
        let content = of("KnowledgeBaseAnswerTranslationContent", translation, "content_id");
        let original = first
            .entry(id(translation, "answer_id").unwrap_or_default())
            .or_insert_with(|| key.clone());
        let article = Article {
            translates: (original != key).then(|| original.clone()),
            key: key.clone(),
            title: text(translation, "title"),
            body: content
                .map(|content| mail::text_of_html(&text(content, "body")))
                .unwrap_or_default(),
            language: locale(translation),
            section: section(answer, translation).unwrap_or_default(),
            is_public: answer["published_at"].is_string() && answer["archived_at"].is_null(),
        };
        articles.extend(article.answer());
    }
    articles
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn articles_of_chatwoot_are_markdown_with_a_category_in_a_language() {
        let page = json!({ "payload": [
            { "id": 7, "title": "Refunds", "content": "Five **bank** days.", "status": "published",
              "slug": "1700-refunds", "category": { "id": 1, "name": "Paying", "locale": "en" } },
            { "id": 8, "title": "Erstattung", "content": "Fünf Tage.", "status": "draft",
              "associated_article_id": 7, "category": { "name": "Zahlen", "locale": "de" } },
            { "id": 9, "title": "Empty", "content": "" },
        ] });
        let found = chatwoot(&[page]);
        assert_eq!(found.len(), 2);
        let (one, other) = (&found[0], &found[1]);
        assert_eq!((one.input.section.as_str(), one.input.language.as_str()), ("Paying", "en"));
        assert_eq!(one.input.help_state, "review");
        assert_eq!(other.translates.as_deref(), Some("7"));
        assert_eq!(
            (other.input.help_state.as_str(), other.input.language.as_str()),
            ("draft", "de")
        );
    }

    #[test]
    fn articles_of_help_scout_are_html_and_their_categories_lie_beside_them() {
        let article = json!({ "article": { "id": "5215", "name": "Refunds", "slug": "refunds",
            "text": "<p>Five <b>bank</b> days.</p>", "status": "published", "categories": ["52aa"] } });
        let categories = json!({ "categories": { "items": [{ "id": "52aa", "name": "Paying" }] } });
        let found = help_scout(&[article, categories]);
        assert_eq!(found.len(), 1);
        let input = &found[0].input;
        assert_eq!((input.title.as_str(), input.section.as_str()), ("Refunds", "Paying"));
        assert!(input.help_body.contains("Five") && !input.help_body.contains('<'));
    }

    #[test]
    fn answers_of_zammad_are_put_together_from_their_translations() {
        let bundle = json!({
            "KnowledgeBaseAnswer": {
                "1": { "id": 1, "category_id": 4, "published_at": "2026-01-02T10:00:00Z", "archived_at": null },
            },
            "KnowledgeBaseAnswerTranslation": {
                "11": { "id": 11, "answer_id": 1, "kb_locale_id": 2, "title": "Refunds", "content_id": 21 },
                "12": { "id": 12, "answer_id": 1, "kb_locale_id": 3, "title": "Erstattung", "content_id": 22 },
            },
            "KnowledgeBaseAnswerTranslationContent": {
                "21": { "id": 21, "body": "<div>Five days.</div>" },
                "22": { "id": 22, "body": "<div>Fünf Tage.</div>" },
            },
            "KnowledgeBaseLocale": { "2": { "system_locale_id": 30 }, "3": { "system_locale_id": 31 } },
            "Locale": { "30": { "locale": "en-us" }, "31": { "locale": "de-de" } },
            "KnowledgeBaseCategoryTranslation": {
                "5": { "category_id": 4, "kb_locale_id": 2, "title": "Paying" },
            },
        });
        let found = zammad(&[bundle]);
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].input.language.as_str(), found[0].input.section.as_str()),
            ("en", "Paying")
        );
        assert_eq!(
            (found[1].input.language.as_str(), found[1].translates.as_deref()),
            ("de", Some("11"))
        );
        assert_eq!(found[1].input.body, "Fünf Tage.");
    }
}

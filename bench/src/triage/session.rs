//! Somebody who works in the app: a connection, their cookies, and the token that forms carry.

use std::net::SocketAddr;

use crate::client::Client;

pub struct AppSession {
    client: Client,
    session: String,
    /// What the next page tells of the last form.
    flash: String,
    csrf: String,
}

impl AppSession {
    pub async fn open(address: SocketAddr, session: &str) -> Result<AppSession, String> {
        let client = Client::connect(address).await.map_err(io_sentence)?;
        let session = session.to_owned();
        let mut opened = AppSession { client, session, flash: String::new(), csrf: String::new() };
        let page = opened.page("/inbox?view=open").await?;
        opened.csrf = between(&page, "name=\"csrf\" value=\"", "\"")?.to_owned();
        Ok(opened)
    }

    pub async fn page(&mut self, path: &str) -> Result<String, String> {
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers());
        self.flash.clear();
        let answer = self.client.call(request.as_bytes()).await.map_err(io_sentence)?;
        match answer.status {
            200 => Ok(String::from_utf8_lossy(answer.body).into_owned()),
            status => Err(format!("{path} was answered with {status}")),
        }
    }

    /// Posts a form, whose fields are encoded; answers where it leads. It must end with this flash.
    pub async fn post(&mut self, path: &str, fields: &str, flash: &str) -> Result<String, String> {
        let body = format!("csrf={}&{fields}", self.csrf);
        let request = format!(
            "POST {path} HTTP/1.1\r\n{}sec-fetch-site: same-origin\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            self.headers(),
            body.len()
        );
        let answer = self.client.call(request.as_bytes()).await.map_err(io_sentence)?;
        if answer.status != 303 {
            return Err(format!("{path} was answered with {}", answer.status));
        }
        let head = String::from_utf8_lossy(answer.head).into_owned();
        self.flash = between(&head, "mailroom_flash=", ";")?.to_owned();
        if self.flash != flash {
            return Err(format!("{path} ended with “{}” instead of “{flash}”", self.flash));
        }
        Ok(between(&head, "\r\nlocation: ", "\r\n")?.to_owned())
    }

    fn headers(&self) -> String {
        format!(
            "host: bench.example\r\naccept: text/html\r\ncookie: mailroom_session={}; \
             mailroom_flash={}; mailroom_zone=Europe%2FBerlin\r\n",
            self.session, self.flash
        )
    }
}

/// What stands between two parts of a text.
pub fn between<'a>(text: &'a str, start: &str, end: &str) -> Result<&'a str, String> {
    let found = text.split_once(start).and_then(|(_, rest)| rest.split_once(end));
    found.map(|(found, _)| found).ok_or_else(|| format!("an answer has no {}", start.trim()))
}

fn io_sentence(error: std::io::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn what_stands_between_two_parts_is_found() {
        let page = r#"<input name="undo" value="und_1"><input name="csrf" value="ab">"#;
        assert_eq!(between(page, "name=\"csrf\" value=\"", "\""), Ok("ab"));
        assert!(between(page, "name=\"tag\" value=\"", "\"").is_err());
    }
}

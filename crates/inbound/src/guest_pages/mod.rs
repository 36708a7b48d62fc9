//! What customers write on pages, filed as mail is.

mod form_answers;
pub mod form_posts;
pub mod own_page;
pub mod secure_answer;

//! Protected messages: their pages, answers and codes.

mod answers;
mod canary;
mod codes;
mod pages;
mod workspaces;

//! The future that ports return: they are used as trait objects, which `async fn` does not allow.

use std::future::Future;
use std::pin::Pin;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

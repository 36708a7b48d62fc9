//! The calls of the customer panel, which a quiet server does not make.

use std::sync::Arc;

use base::concurrency::future::BoxFuture;
use base::panel_answers::{PanelCall, PanelCaller, PanelReply};
use node::quiet::QuietMode;
use transport::webhooks::HttpWebhookSender;

/// Calls unless the server is quiet.
pub struct PanelCalls {
    sender: HttpWebhookSender,
    quiet: QuietMode,
}

impl PanelCalls {
    pub fn new(sender: HttpWebhookSender, quiet: QuietMode) -> Arc<PanelCalls> {
        Arc::new(PanelCalls { sender, quiet })
    }
}

impl PanelCaller for PanelCalls {
    fn post<'a>(&'a self, call: &'a PanelCall) -> BoxFuture<'a, PanelReply> {
        if self.quiet.is_quiet() {
            let sentence = "This server is quiet: it calls nobody.";
            return Box::pin(async move { PanelReply::Failed(sentence.into()) });
        }
        self.sender.post(call)
    }
}

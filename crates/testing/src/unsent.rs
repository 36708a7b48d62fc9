//! Files of unsent texts, as the app attaches them and makes them fit the message that they go with.

use actions::writing::autosaves::AutosaveKey;
use actions::writing::compose::NewReply;
use actions::writing::unsent_files;
use base::actor::Actor;
use base::ids::AttachmentId;
use model::guests::secure::seal_file;

use crate::TestApp;

impl TestApp {
    /// Attaches files to somebody's unsent text: names, types and bytes.
    pub async fn attach(
        &self,
        person: &Actor,
        place: &AutosaveKey,
        files: &[(&str, &str, &[u8])],
    ) -> Vec<AttachmentId> {
        let sealed = files.iter().map(|(name, kind, bytes)| {
            let (name, kind) = ((*name).to_owned(), (*kind).to_owned());
            seal_file((&self.app.blobs, &self.app.ids), self.now(), name, kind, bytes).unwrap()
        });
        let (sealed, place): (Vec<_>, _) = (sealed.collect(), place.clone());
        let ids = sealed.iter().map(|(file, _)| file.id.clone()).collect();
        self.act(person, move |tx, cx| unsent_files::attach(tx, cx, &place, &sealed)).await;
        ids
    }

    /// Seals or opens the files of somebody's unsent text for a message to the team's inbox.
    pub async fn fit_files(&self, person: &Actor, place: &AutosaveKey, message: &NewReply) {
        let (mailbox, message) = (self.support.id.to_string(), message.clone());
        let (there, place) = (place.clone(), place.clone());
        let unfit = self.act(person, move |tx, cx| {
            unsent_files::unfit_files(tx, cx, &there, &mailbox, &message)
        });
        let refit = |file: model::messages::sealed_attachments::UnfitFile| {
            file.refit((&self.app.blobs, &self.app.ids)).unwrap()
        };
        let files: Vec<_> = unfit.await.into_iter().map(refit).collect();
        self.act(person, move |tx, cx| unsent_files::refit_files(tx, cx, &place, &files)).await;
    }
}

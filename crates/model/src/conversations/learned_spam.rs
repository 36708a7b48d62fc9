//! How likely a mail is spam by what was decided about similar mail of the same circle.

use std::sync::Arc;

use base::actor::Circle;
use base::error::Result;
use base::sorter_models::{ExampleKind, ModelKey, SorterModels};
use classifier::TopicModel;
use db::Tx;

use crate::conversations::sorter_examples::{self, TrainingSet};
use crate::conversations::sorting::{FINE, SPAM};

/// Decisions of each kind below which nothing is concluded.
const DECISIONS_EACH: usize = 5;
/// A guess that is less sure says nothing.
const SURE: f64 = 0.5;

/// From 0 to 1; `None` where nothing was learned or the model is not sure. Few examples are kept of
/// spam, so a model that is not in memory is learned at once.
pub fn likelihood(
    tx: &mut Tx<'_>,
    sorters: &SorterModels,
    ws: i64,
    circle: &Circle,
    text: &str,
) -> Result<Option<f64>> {
    let key = ModelKey { ws, circle: circle.to_string(), kind: ExampleKind::Spam };
    let revision = sorter_examples::revision(tx, &key)?;
    if revision == 0 {
        return Ok(None);
    }
    let model = match sorters.get(&key, revision) {
        Some(model) => model,
        None => {
            let set = sorter_examples::training_set(tx, &key)?;
            let model = Arc::new(if is_enough(&set) { set.learn() } else { TopicModel::default() });
            sorters.put(key, revision, set.examples.len(), Arc::clone(&model));
            model
        }
    };
    let sorted = model.sort(text);
    Ok(match sorted.suggested.as_deref().filter(|_| sorted.confidence >= SURE) {
        Some(SPAM) => Some(sorted.confidence),
        Some(FINE) => Some(1.0 - sorted.confidence),
        _ => None,
    })
}

fn is_enough(set: &TrainingSet) -> bool {
    [SPAM, FINE].iter().all(|label| {
        let of_label = set.examples.iter().filter(|one| one.topic.as_deref() == Some(*label));
        of_label.count() >= DECISIONS_EACH
    })
}

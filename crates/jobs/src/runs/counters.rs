//! The counters of jobs that alerts watch, at 0 from the start: an alert on an increase does not see a series that
//! begins at 1.

use base::concurrency::queue::Queue;
use metrics::counter;

use crate::deliver_webhooks::DELIVERY_OUTCOMES;
use crate::ports::relay::RelayOutcome;

/// Makes the series. To be called once figures are kept.
pub fn start_counters() {
    for queue in Queue::NAMES {
        counter!("mailroom_job_failures_total", "queue" => *queue).increment(0);
        counter!("mailroom_jobs_given_up_total", "queue" => *queue).increment(0);
    }
    for outcome in RelayOutcome::NAMES {
        counter!("mailroom_messages_total", "outcome" => outcome).increment(0);
    }
    for outcome in DELIVERY_OUTCOMES {
        counter!("mailroom_deliveries_total", "outcome" => outcome).increment(0);
    }
}

//! API sections 4.14, 5.8 and 8.3: testing an integration without real mail.

mod inbound;
mod invoice;
mod isolation;
mod recipients;

use testing::SECOND;

/// The undo window of the sandbox, and how long a simulated customer takes to answer.
const UNDO: i64 = 5 * SECOND;
const ANSWERS_AFTER: i64 = 5 * SECOND;

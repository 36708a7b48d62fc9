//! The MCP tool of an operation: its description and annotations.

use super::{Access, OPERATIONS, Operation, ScopeRule};

/// The MCP description of an operation, in addition to the operation table.
pub struct Tool {
    pub name: &'static str,
    /// Written for a model, which reads it with every conversation: what it does and when to use it, as
    /// short as it can be said.
    pub about: &'static str,
    /// All there is to say, which the tool `help` gives: what it does, when to use it, what happens to the
    /// customer.
    pub help: &'static str,
    /// What a model must know of arguments whose names do not say it.
    pub hints: &'static [(&'static str, &'static str)],
    /// The arguments of one call, as JSON.
    pub example: &'static str,
    /// What a list is called inside the structured result, which is always an object; `None` when
    /// the answer is an object already.
    pub list: Option<&'static str>,
    /// True when the operation can lose data irrecoverably.
    pub destructive: bool,
}

impl Operation {
    pub fn only_reads(&self) -> bool {
        self.access != Access::Write
    }

    /// True when something can leave for people outside the team.
    pub fn reaches_customers(&self) -> bool {
        let invites = self.path.starts_with("/bookings") && !self.only_reads();
        self.scope == ScopeRule::DraftOrSend || invites
    }
}

/// The operation behind a tool.
pub fn with_tool(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.tool.as_ref().is_some_and(|t| t.name == name))
}

//! The calls of an agent as a table for spreadsheets.

use model::people::agent_calls::AgentCall;

/// One line for each call, below the names of the columns.
pub fn write(calls: &[AgentCall]) -> String {
    let mut text = String::from("time,operation,status,request,conversation,arguments,error\r\n");
    for call in calls {
        let cells = [
            call.at.iso(),
            call.operation.clone(),
            call.status.to_string(),
            call.request.clone(),
            call.conversation.clone().unwrap_or_default(),
            call.arguments.clone(),
            call.error.clone().unwrap_or_default(),
        ];
        text.push_str(&cells.map(|cell| csv_cell(&cell)).join(","));
        text.push_str("\r\n");
    }
    text
}

/// A spreadsheet runs what begins like a formula.
fn csv_cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let begin = if formula { "'" } else { "" };
    format!("\"{begin}{}\"", text.replace('"', "\"\""))
}

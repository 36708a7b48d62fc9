//! Opens a link in the browser of whoever sits at the terminal.

use std::env::var_os;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::{Command, Stdio};

/// Opens the link where there is a desktop and somebody at a terminal; a service and a remote shell are left
/// alone. The link is printed in any case, so a failure is told nobody.
pub fn open_in_browser(link: &str) {
    if !std::io::stdout().is_terminal() || !is_desktop(var_os) {
        return;
    }
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = || Stdio::null();
    let begun =
        Command::new(opener).arg(link).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    if let Ok(mut child) = begun {
        std::thread::spawn(move || child.wait());
    }
}

/// True where programs can open windows in front of whoever started this one.
fn is_desktop(variable: impl Fn(&'static str) -> Option<OsString>) -> bool {
    let has = |name| variable(name).is_some_and(|value| !value.is_empty());
    let is_remote = has("SSH_CONNECTION") || has("SSH_TTY");
    let has_windows = cfg!(target_os = "macos") || has("DISPLAY") || has("WAYLAND_DISPLAY");
    has_windows && !is_remote
}

#[cfg(test)]
mod tests {
    use super::is_desktop;

    #[test]
    fn a_remote_shell_and_a_machine_without_windows_are_no_desktop() {
        let with = |names: &'static [&'static str]| {
            is_desktop(|name| names.contains(&name).then(|| "x".into()))
        };
        assert!(with(&["DISPLAY"]));
        assert!(with(&["WAYLAND_DISPLAY"]));
        assert!(!with(&["DISPLAY", "SSH_CONNECTION"]));
        assert_eq!(with(&[]), cfg!(target_os = "macos"));
    }
}

//! What packages need of the command line: its manual page and the completions of shells, made from
//! the commands themselves; and the manual as a static site.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use clap::{Arg, Args, Command, CommandFactory, ValueEnum};
use developer_site::manual::{ManualFile, manual_files};
use serde_json::json;

use super::command::{CommandResult, print, say};
use super::{Cli, Json};

#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Completions {
    pub fn run(self) {
        let cli = build();
        let text = match self.shell {
            Shell::Bash => bash(&cli),
            Shell::Zsh => format!(
                "#compdef mailroom\nautoload -U +X bashcompinit && bashcompinit\n{}",
                bash(&cli)
            ),
            Shell::Fish => fish(&cli),
        };
        say!("{text}");
    }
}

/// The file that tells the folder of an earlier run from any other; it lists what was written.
const WRITTEN: &str = ".mailroom-docs";

#[derive(Args)]
pub struct WriteDocs {
    /// The folder to write to: a new one, an empty one, or that of an earlier run
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    #[command(flatten)]
    output: Json,
}

impl WriteDocs {
    pub fn run(self) -> CommandResult {
        let files = manual_files()?;
        make_room(&self.to)?;
        write_site(&self.to, &files)
            .map_err(|error| format!("{} cannot be written: {error}", self.to.display()))?;
        let pages = files.iter().filter(|file| file.path.ends_with(".html")).count();
        let said =
            format!("Wrote {pages} pages. Begin with {}.", self.to.join("index.html").display());
        print(self.output, &json!({ "folder": self.to, "pages": pages }), &said);
        Ok(())
    }
}

/// Removes what an earlier run wrote. A folder with anything else is left as it is, which is an error.
fn make_room(folder: &Path) -> Result<(), String> {
    let said = |error: io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(said)?;
    let written = match fs::read_to_string(folder.join(WRITTEN)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let is_empty = fs::read_dir(folder).map_err(said)?.next().is_none();
            let refusal = || {
                format!(
                    "{} is not empty, and no manual was written there. Name another folder.",
                    folder.display()
                )
            };
            return if is_empty { Ok(()) } else { Err(refusal()) };
        }
        written => written.map_err(said)?,
    };
    for path in written.lines().map(Path::new).filter(|path| is_inside(path)) {
        match fs::remove_file(folder.join(path)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(said(error)),
            _ => {}
        }
    }
    Ok(())
}

/// True for a path that leads into the folder and not out of it.
fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// The list comes first, so that a run that broke off can be repeated.
fn write_site(folder: &Path, files: &[ManualFile]) -> io::Result<()> {
    let list: String = files.iter().map(|file| format!("{}\n", file.path)).collect();
    fs::write(folder.join(WRITTEN), list)?;
    for file in files {
        let path = folder.join(&file.path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        fs::write(path, &file.bytes)?;
    }
    Ok(())
}

/// Prints the manual page as roff.
pub fn print_manual() {
    let cli = build();
    let mut page = format!(
        ".TH MAILROOM 1 \"\" \"Mailroom {}\" \"User Commands\"\n.SH NAME\nmailroom \\- {}\n.SH SYNOPSIS\n\
         .B mailroom\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH COMMANDS\n",
        env!("CARGO_PKG_VERSION"),
        roff(&about(&cli)),
    );
    manual_of(&cli, "mailroom", &mut page);
    page.push_str(".SH SETTINGS\nEach can be an option, the named variable, or a line of mailroom.toml in the data folder.\n");
    for setting in cli.get_arguments().filter(|arg| is_setting(arg)) {
        page.push_str(&manual_of_arg(setting));
    }
    say!("{page}");
}

fn build() -> Command {
    let mut cli = Cli::command();
    cli.build();
    cli
}

fn manual_of(command: &Command, path: &str, page: &mut String) {
    for sub in visible(command) {
        let path = format!("{path} {}", sub.get_name());
        if sub.has_subcommands() {
            manual_of(sub, &path, page);
            continue;
        }
        page.push_str(&format!(".SS {}\n{}\n", roff(&path), roff(&about(sub))));
        for arg in sub.get_arguments().filter(|arg| !is_setting(arg) && arg.get_id() != "help") {
            page.push_str(&manual_of_arg(arg));
        }
    }
}

fn manual_of_arg(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let name = match arg.get_long() {
        Some(long) => format!("--{long}{}", value_of(arg)),
        None => value_of(arg).trim().to_owned(),
    };
    let variable = arg.get_env().map(|name| format!(" ({})", name.to_string_lossy()));
    format!(
        ".TP\n.B {}\n{}\n",
        roff(&name),
        roff(&format!("{help}{}", variable.unwrap_or_default()))
    )
}

fn value_of(arg: &Arg) -> String {
    if !arg.get_action().takes_values() {
        return String::new();
    }
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().map(|name| format!(" {name}")).collect()
}

/// Settings are accepted by every command.
fn is_setting(arg: &Arg) -> bool {
    arg.is_global_set()
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Text in which roff finds no command.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\n', " ");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

fn bash(cli: &Command) -> String {
    let mut cases = String::new();
    bash_cases(cli, "mailroom", &mut cases);
    format!(
        "_mailroom() {{\n    local word path=mailroom\n    for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n        \
         case \"$path $word\" in\n{}        esac\n    done\n    local words\n    case \"$path\" in\n{cases}    esac\n    \
         COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n    \
         if [ ${{#COMPREPLY[@]}} -eq 0 ]; then\n        COMPREPLY=($(compgen -f -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n    fi\n}}\n\
         complete -F _mailroom mailroom\n",
        bash_paths(cli, "mailroom"),
    )
}

fn bash_paths(command: &Command, path: &str) -> String {
    let mut text = String::new();
    for sub in visible(command) {
        let path = format!("{path} {}", sub.get_name());
        text.push_str(&format!("        '{path}') path='{path}' ;;\n"));
        text.push_str(&bash_paths(sub, &path));
    }
    text
}

fn bash_cases(command: &Command, path: &str, cases: &mut String) {
    let mut words: Vec<String> = visible(command).map(|sub| sub.get_name().to_owned()).collect();
    words.extend(options(command));
    cases.push_str(&format!("    '{path}') words='{}' ;;\n", words.join(" ")));
    for sub in visible(command) {
        bash_cases(sub, &format!("{path} {}", sub.get_name()), cases);
    }
}

fn options(command: &Command) -> Vec<String> {
    let long = command.get_arguments().filter_map(|arg| arg.get_long());
    long.map(|long| format!("--{long}")).collect()
}

fn fish(cli: &Command) -> String {
    let mut text = String::from("complete -c mailroom -f\n");
    fish_lines(cli, &[], &mut text);
    text
}

fn fish_lines(command: &Command, path: &[String], text: &mut String) {
    let subs: Vec<&str> = visible(command).map(Command::get_name).collect();
    let seen: Vec<String> =
        path.iter().map(|word| format!("__fish_seen_subcommand_from {word}")).collect();
    let mut here = seen.clone();
    if !subs.is_empty() {
        here.push(format!("not __fish_seen_subcommand_from {}", subs.join(" ")));
    }
    let condition = here.join("; and ");
    for sub in visible(command) {
        let about = about(sub).replace('\'', "\\'");
        text.push_str(&format!(
            "complete -c mailroom -n '{condition}' -a {} -d '{about}'\n",
            sub.get_name()
        ));
        let path: Vec<String> = path.iter().cloned().chain([sub.get_name().to_owned()]).collect();
        fish_lines(sub, &path, text);
    }
    for arg in command.get_arguments().filter(|arg| !is_setting(arg)) {
        if let Some(long) = arg.get_long() {
            let needs = if arg.get_action().takes_values() { " -r -F" } else { "" };
            let condition =
                if path.is_empty() { "__fish_use_subcommand".into() } else { seen.join("; and ") };
            text.push_str(&format!("complete -c mailroom -n '{condition}' -l {long}{needs}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_offer_every_word_of_what_they_name() {
        let cli = build();
        let offers = |path: &str, argument: &str| -> Vec<String> {
            let command = path
                .split(' ')
                .fold(&cli, |command, name| command.find_subcommand(name).expect("a command"));
            let found = command.get_arguments().find(|arg| arg.get_id() == argument);
            let values = found.expect("an argument").get_possible_values();
            values.iter().map(|value| value.get_name().to_owned()).collect()
        };
        for (path, argument, words) in [
            ("service add", "service", outbound::services::Service::NAMES),
            ("key create", "scopes", base::security::scopes::Scope::NAMES),
            ("user add", "role", base::actor::Role::NAMES),
            ("workspace set-plan", "plan", base::actor::Plan::NAMES),
            ("queue list", "kind", jobs::queues::QueueKind::NAMES),
            ("queue list", "state", jobs::queues::QueueState::NAMES),
            ("webhook log", "state", actions::integrations::delivery_log::DeliveryState::NAMES),
            ("webhook add", "format", model::webhooks::WebhookFormat::NAMES),
            ("webhook log", "event", model::webhooks::events::names().as_slice()),
            ("webhook events", "names", model::webhooks::events::all_choosable_names().as_slice()),
        ] {
            assert_eq!(offers(path, argument), words, "{path} {argument}");
        }
    }

    #[test]
    fn completions_and_manual_know_every_command() {
        let cli = build();
        let (bash, fish) = (bash(&cli), fish(&cli));
        let mut page = String::new();
        manual_of(&cli, "mailroom", &mut page);
        assert!(bash.contains("'mailroom webhook add') words='"), "{bash}");
        assert!(fish.contains("-a backup"), "{fish}");
        for (name, option) in
            [("mailroom restore", "passphrase"), ("mailroom mailbox imap", "server")]
        {
            assert!(page.contains(&format!(".SS {name}\n")), "{name}: {page}");
            assert!(page.contains(option), "{option}");
        }
        assert!(!page.lines().any(|line| line.starts_with('\'')), "a line is a command of roff");
    }
}

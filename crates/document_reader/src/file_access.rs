//! File access of a sandboxed process (Landlock, Linux 5.13 and later). Without Landlock only the
//! seccomp allow-list applies.

pub use rules::{allow_nothing, allow_program, is_supported};

#[cfg(target_os = "linux")]
mod rules {
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::io::{self, Read};
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetCreated, RulesetCreatedAttr, Scope, path_beneath_rules,
    };

    /// The newest Landlock ABI that is requested; an older kernel enforces what it supports.
    const NEWEST: ABI = ABI::V6;
    /// Where programs find libraries, languages and fonts.
    const SYSTEM_FILES: &[&str] = &[
        "/dev/null",
        "/usr",
        "/lib",
        "/lib32",
        "/lib64",
        "/nix/store",
        "/gnu/store",
        "/etc/alternatives",
        "/etc/fonts",
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        "/sys/devices/system/cpu",
        "/var/cache/fontconfig",
    ];
    /// The environment variable with tesseract's language folder.
    const LANGUAGES_FOLDER: &str = "TESSDATA_PREFIX";
    /// How much of a program is read to find its loader, in bytes.
    const HEAD_BYTES: u64 = 16 * 1024;

    /// True when the kernel holds processes to rules like these.
    pub fn is_supported() -> bool {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V1))
            .and_then(Ruleset::create)
            .is_ok()
    }

    /// No file access, no network, and no signals to other processes.
    pub fn allow_nothing() -> io::Result<()> {
        enforce(no_files()?)
    }

    /// Read access to system libraries and data, and execute access to this program.
    pub fn allow_program(program: &Path) -> io::Result<()> {
        let program = fs::canonicalize(program)?;
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let mut readable: Vec<PathBuf> = SYSTEM_FILES.iter().map(PathBuf::from).collect();
        readable.extend(std::env::var_os(LANGUAGES_FOLDER).map(PathBuf::from));
        let started = [loader(&program), Some(program)];
        let rules = no_files()?
            .add_rules(path_beneath_rules(readable, read))
            .and_then(|rules| {
                let start: BitFlags<AccessFs> = AccessFs::Execute | AccessFs::ReadFile;
                rules.add_rules(path_beneath_rules(started.into_iter().flatten(), start))
            })
            .map_err(io::Error::other)?;
        enforce(rules)
    }

    fn no_files() -> io::Result<RulesetCreated> {
        Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(NEWEST)))
            .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
            .and_then(Ruleset::create)
            .map_err(io::Error::other)
    }

    fn enforce(rules: RulesetCreated) -> io::Result<()> {
        rules.restrict_self().map(drop).map_err(io::Error::other)
    }

    /// The program that loads this one's libraries, which the kernel starts in its place: the path
    /// in the ELF file's `PT_INTERP` segment (System V ABI, program header).
    fn loader(program: &Path) -> Option<PathBuf> {
        const INTERPRETER: u32 = 3;
        let mut head = Vec::new();
        File::open(program).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
        let is_elf64_little_endian = head.starts_with(b"\x7fELF\x02\x01");
        let long = |at: usize| {
            Some(u64::from_le_bytes(head.get(at..at.checked_add(8)?)?.try_into().ok()?) as usize)
        };
        let short =
            |at: usize| Some(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?) as usize);
        if !is_elf64_little_endian {
            return None;
        }
        let (first, size, count) = (long(32)?, short(54)?, short(56)?);
        let entry = (0..count).filter_map(|n| first.checked_add(n * size)).find(|at| {
            let kind = head.get(*at..*at + 4).and_then(|bytes| bytes.try_into().ok());
            kind.map(u32::from_le_bytes) == Some(INTERPRETER)
        })?;
        let (start, length) = (long(entry + 8)?, long(entry + 32)?);
        let path = head.get(start..start.checked_add(length)?)?;
        let path = path.split(|byte| *byte == 0).next()?;
        fs::canonicalize(OsStr::from_bytes(path)).ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_loader_of_a_program_is_found_and_of_a_script_there_is_none() {
            let own = loader(&std::env::current_exe().unwrap()).unwrap();
            assert!(own.to_string_lossy().contains("ld-"), "{own:?}");
            let folder = tempfile::tempdir().unwrap();
            let script = folder.path().join("script");
            for bytes in [&b"#!/bin/sh\n"[..], b"", b"\x7fELF\x02\x01", &[0x7f; 64]] {
                fs::write(&script, bytes).unwrap();
                assert_eq!(loader(&script), None);
            }
        }

        /// Rules hold for the thread that takes them on, so a thread stands for the process.
        #[test]
        fn who_is_allowed_nothing_reaches_no_file() {
            if !is_supported() {
                return;
            }
            let inside = std::thread::spawn(|| {
                allow_nothing().unwrap();
                [File::open("/proc/self/status").is_err(), fs::read_dir("/").is_err()]
            });
            assert_eq!(inside.join().unwrap(), [true; 2]);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod rules {
    use std::io;
    use std::path::Path;

    pub fn is_supported() -> bool {
        false
    }

    pub fn allow_nothing() -> io::Result<()> {
        Ok(())
    }

    pub fn allow_program(_program: &Path) -> io::Result<()> {
        Ok(())
    }
}

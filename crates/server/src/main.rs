//! The program `mailroom`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_small();
    keep_private();
    server::cli::main()
}

/// What this process makes, and what is in its memory, is for nobody else on the machine.
fn keep_private() {
    server::node::permissions::make_private_files();
    // Where the system does not allow it, other processes of the same user can look.
    let _ = server::documents::hide_memory();
}

/// The allocator asks for huge pages and touches little of each: ten of them are half of what an
/// idle server weighs.
fn keep_small() {
    #[cfg(target_os = "linux")]
    // A kernel that knows no huge pages gives none.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

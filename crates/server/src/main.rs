//! The program `mailroom`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_small();
    keep_private();
    server::cli::main()
}

/// Files and memory of this process are not accessible to other users of the machine.
fn keep_private() {
    node::permissions::make_private_files();
    // Where the system does not allow it, other processes of the same user can look.
    let _ = document_reader::hide_memory();
}

/// The allocator requests huge pages and uses little of each: ten of them are half of an idle
/// server's memory.
fn keep_small() {
    #[cfg(target_os = "linux")]
    // Ignored by kernels without huge pages.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_small();
    server::cli::main()
}

/// The allocator asks for huge pages and touches little of each: ten of them are half of what an
/// idle server weighs.
fn keep_small() {
    #[cfg(target_os = "linux")]
    // A kernel that knows no huge pages gives none.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

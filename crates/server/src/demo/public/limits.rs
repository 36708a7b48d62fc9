//! How many visitors a public demo has, and how much memory and disk it may use.

use clap::Args;

use super::room::UsedRoom;

const MIB: u64 = 1_024 * 1_024;

/// The limits of a public demo.
#[derive(Args, Clone, Copy, Debug)]
pub struct DemoLimits {
    /// Visitors at one time; further ones are told when the next place is free
    #[arg(long, value_name = "NUMBER", default_value_t = 200, requires = "public",
          value_parser = clap::value_parser!(i64).range(1..=1_000))]
    pub visitors: i64,
    /// Visits that are begun from one network in an hour
    #[arg(long, value_name = "NUMBER", default_value_t = 10, requires = "public",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub visits_per_network: u32,
    /// Megabytes of memory: above this no visit is begun and nothing is taken in
    #[arg(long, value_name = "MB", default_value_t = 1_024, requires = "public",
          value_parser = clap::value_parser!(u64).range(256..=65_536))]
    pub memory_mb: u64,
    /// Megabytes of disk in the data folder: the same
    #[arg(long, value_name = "MB", default_value_t = 4_096, requires = "public",
          value_parser = clap::value_parser!(u64).range(256..=1_048_576))]
    pub disk_mb: u64,
}

impl DemoLimits {
    pub fn are_reached(&self, used: &UsedRoom) -> bool {
        used.memory_bytes > self.memory_mb * MIB || used.disk_bytes > self.disk_mb * MIB
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_disk_are_limits_of_their_own() {
        let limits =
            DemoLimits { visitors: 1, visits_per_network: 1, memory_mb: 256, disk_mb: 512 };
        let used = |memory, disk| UsedRoom { memory_bytes: memory * MIB, disk_bytes: disk * MIB };
        assert!(!limits.are_reached(&used(256, 512)));
        assert!(limits.are_reached(&used(257, 1)));
        assert!(limits.are_reached(&used(1, 513)));
    }
}

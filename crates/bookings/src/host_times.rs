//! Times of hosts, gathered from rows that begin with the host. A month of a busy team has thousands, so nothing is
//! copied for a row but its times.

use base::ids::UserId;
use db::{Row, StoreError};

/// For each host, their times. The rows of a host come after each other.
#[derive(Debug)]
pub(super) struct HostTimes<T> {
    hosts: Vec<(Vec<u8>, Vec<T>)>,
}

impl<T> Default for HostTimes<T> {
    fn default() -> HostTimes<T> {
        HostTimes { hosts: Vec::new() }
    }
}

impl<T> HostTimes<T> {
    /// The times of the host that is the next column of a row.
    pub fn of_next(&mut self, row: &mut Row<'_>) -> Result<&mut Vec<T>, StoreError> {
        let host = row.take_bytes()?;
        let place = match self.hosts.iter().rposition(|(known, _)| known == host) {
            Some(place) => place,
            None => {
                self.hosts.push((host.to_vec(), Vec::new()));
                self.hosts.len() - 1
            }
        };
        Ok(&mut self.hosts[place].1)
    }

    /// The times of a host, taken out.
    pub fn take(&mut self, host: &UserId) -> Vec<T> {
        let found = self.hosts.iter_mut().find(|(known, _)| known == host.as_str().as_bytes());
        found.map(|(_, times)| std::mem::take(times)).unwrap_or_default()
    }
}

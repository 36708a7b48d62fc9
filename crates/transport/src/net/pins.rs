//! Pins a host name to the addresses that the SSRF guard allowed.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The most addresses of one name that are dialled, one after the other.
const DIALLED: usize = 8;

/// The vetted addresses of host names with running calls. The HTTP client resolves names here only,
/// so that it connects to the vetted addresses even if DNS has changed since (DNS rebinding).
#[derive(Clone, Default)]
pub struct DnsPins(Arc<Mutex<HashMap<String, Pin>>>);

struct Pin {
    addresses: Vec<SocketAddr>,
    /// Running calls to this name; the last one removes the pin.
    calls: usize,
}

/// Keeps a name's pin during a call.
pub struct Pinned {
    pins: DnsPins,
    name: String,
}

impl DnsPins {
    /// Pins a name to addresses that were vetted just now; a running call that has not connected
    /// yet uses them, too.
    pub fn hold(&self, name: &str, vetted: &[IpAddr]) -> Pinned {
        // The client puts the port of the URL in.
        let addresses =
            vetted.iter().take(DIALLED).map(|ip| SocketAddr::new(*ip, 0)).collect::<Vec<_>>();
        let mut pins = self.lock();
        let calls = pins.get(name).map_or(0, |pin| pin.calls);
        pins.insert(name.to_owned(), Pin { addresses, calls: calls + 1 });
        Pinned { pins: self.clone(), name: name.to_owned() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Pin>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let mut pins = self.pins.lock();
        if let Some(pin) = pins.get_mut(&self.name) {
            pin.calls -= 1;
            if pin.calls == 0 {
                pins.remove(&self.name);
            }
        }
    }
}

impl Resolve for DnsPins {
    fn resolve(&self, name: Name) -> Resolving {
        let addresses = self.lock().get(name.as_str()).map(|pin| pin.addresses.clone());
        Box::pin(async move {
            let addresses = addresses.ok_or("no call to this name is under way")?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn dial(pins: &DnsPins, name: &str) -> Option<Vec<SocketAddr>> {
        pins.resolve(name.parse().unwrap()).await.ok().map(Iterator::collect)
    }

    #[tokio::test]
    async fn a_name_is_pinned_while_a_call_to_it_is_under_way() {
        let pins = DnsPins::default();
        assert_eq!(dial(&pins, "example.com").await, None);
        let first = pins.hold("example.com", &[[8, 8, 8, 8].into()]);
        let second = pins.hold("example.com", &[[9, 9, 9, 9].into()]);
        assert_eq!(dial(&pins, "example.com").await, Some(vec![([9, 9, 9, 9], 0).into()]));
        drop(second);
        assert!(dial(&pins, "example.com").await.is_some());
        assert_eq!(dial(&pins, "example.org").await, None);
        drop(first);
        assert_eq!(dial(&pins, "example.com").await, None);
        assert!(pins.lock().is_empty());
    }

    #[tokio::test]
    async fn only_the_first_of_many_addresses_are_dialled() {
        let pins = DnsPins::default();
        let many: Vec<IpAddr> = (0..=255).map(|n| [8, 8, 8, n].into()).collect();
        let _pinned = pins.hold("example.com", &many);
        assert_eq!(dial(&pins, "example.com").await.unwrap().len(), DIALLED);
    }
}

//! A map of bounded weight that forgets what was not asked for lately.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;

/// Two generations: what is asked for moves to the younger one, and when that is full it becomes the older
/// one, whose rest is forgotten.
pub struct RecentMap<K, V> {
    young: HashMap<K, Weighed<V>>,
    old: HashMap<K, Weighed<V>>,
    weight: usize,
    most: usize,
}

struct Weighed<V> {
    value: V,
    weight: usize,
}

impl<K: Hash + Eq, V: Clone> RecentMap<K, V> {
    /// A map whose generations weigh up to `most` each.
    pub fn new(most: usize) -> RecentMap<K, V> {
        RecentMap { young: HashMap::new(), old: HashMap::new(), weight: 0, most }
    }

    pub fn get(&mut self, key: &K) -> Option<V> {
        if let Some(found) = self.young.get(key) {
            return Some(found.value.clone());
        }
        let (key, found) = self.old.remove_entry(key)?;
        let value = found.value.clone();
        self.insert(key, found.value, found.weight);
        Some(value)
    }

    pub fn insert(&mut self, key: K, value: V, weight: usize) {
        if self.weight + weight > self.most {
            self.old = mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += weight;
        if let Some(before) = self.young.insert(key, Weighed { value, weight }) {
            self.weight -= before.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_forgotten() {
        let mut map = RecentMap::new(10);
        for number in 0..10 {
            map.insert(number, number, 1);
        }
        assert_eq!(map.get(&3), Some(3));
        map.insert(10, 10, 1);
        assert_eq!(map.get(&3), Some(3), "from the older generation");
        for number in 11..19 {
            map.insert(number, number, 1);
        }
        assert_eq!(map.get(&3), Some(3), "it moved to the younger one");
        assert_eq!(map.get(&4), Some(4));
        for number in 20..40 {
            map.insert(number, number, 1);
        }
        assert_eq!(map.get(&4), None);
    }

    #[test]
    fn a_new_value_takes_the_weight_of_the_one_before() {
        let mut map = RecentMap::new(10);
        map.insert("other", 0, 1);
        for number in 0..100 {
            map.insert("same", number, 5);
        }
        assert_eq!(map.get(&"same"), Some(99));
        assert!(map.young.len() + map.old.len() <= 3 && map.weight <= 10);
    }
}

//! Random values that lie near what contracts and claims speak of, for that is where behaviour turns.
#![allow(dead_code)]

use proptest::prelude::*;
use proptest::strategy::Union;

use super::generators::{NUMBERS, TEXTS};

const FEW: &[&str] = &["a", "b", "c", "ab", "ba", "aa", "", "A", "abcabc", "aaaaaaaa"];

/// Whole numbers, both ends included: small ones, that collide; constants and what is beside them; any at all.
pub fn whole(low: i64, high: i64) -> BoxedStrategy<i64> {
    let start = low.max(-20).min(high);
    let edges = NUMBERS.iter().flat_map(|&number| [number, -number]).chain([low, high]);
    let mut beside: Vec<i64> = edges.flat_map(|edge| [edge - 1, edge, edge + 1]).collect();
    beside.retain(|number| (low..=high).contains(number));
    let small = start..=(start + if start < 0 { 40 } else { 20 }).min(high);
    Union::new([small.boxed(), prop::sample::select(beside).boxed(), (low..=high).boxed()]).boxed()
}

/// Texts by their length in characters: a few that collide; constants; their signs; any at all.
pub fn text(shortest: usize, longest: usize) -> BoxedStrategy<String> {
    let fits = |text: &&str| (shortest..=longest).contains(&text.chars().count());
    let known: Vec<String> = TEXTS.iter().copied().filter(fits).map(str::to_string).collect();
    let few: Vec<String> = FEW.iter().copied().filter(fits).map(str::to_string).collect();
    let mut signs: Vec<char> = TEXTS.concat().chars().chain("0aÉ ,-".chars()).collect();
    signs.sort_unstable();
    signs.dedup();
    let size = shortest..=longest.min(shortest.max(8));
    let made = |chars: Vec<char>| chars.into_iter().collect::<String>();
    let mut pools = vec![
        prop::collection::vec(prop::sample::select(signs), size.clone()).prop_map(made).boxed(),
        prop::collection::vec(any::<char>(), size).prop_map(made).boxed(),
    ];
    pools.extend([known, few].into_iter().filter(|pool| !pool.is_empty()).map(|pool| prop::sample::select(pool).boxed()));
    Union::new(pools).boxed()
}

/// Items whose keys differ: of equal ones, the first.
pub fn unique_by<T, K: PartialEq>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for item in items {
        if found.iter().all(|other| key(other) != key(&item)) {
            found.push(item);
        }
    }
    found
}

//! What predicates say of values that the language has no single word for.
#![allow(dead_code)]

use std::cmp::Ordering;

/// Division that rounds down.
pub fn floor_divide(left: i64, right: i64) -> i64 {
    let (whole, rest) = (left / right, left % right);
    if rest != 0 && (rest < 0) != (right < 0) { whole - 1 } else { whole }
}

/// What is left of a division that rounds down.
pub fn modulo(left: i64, right: i64) -> i64 {
    left - right * floor_divide(left, right)
}

fn order<T: PartialOrd>(left: &T, right: &T) -> Ordering {
    left.partial_cmp(right).expect("values that can be compared")
}

/// In ascending order.
pub fn sorted<T: PartialOrd>(mut items: Vec<T>) -> Vec<T> {
    items.sort_by(order);
    items
}

/// In ascending order of a key, equal keys as they stood.
pub fn sorted_by_key<T: Clone, K: PartialOrd>(mut items: Vec<T>, key: impl Fn(T) -> K) -> Vec<T> {
    items.sort_by(|left, right| order(&key(left.clone()), &key(right.clone())));
    items
}

/// The first of the least.
pub fn minimum<T: PartialOrd + Clone>(items: Vec<T>) -> T {
    minimum_by_key(items, |item| item)
}

/// The first of the greatest.
pub fn maximum<T: PartialOrd + Clone>(items: Vec<T>) -> T {
    maximum_by_key(items, |item| item)
}

/// The first whose key is the least.
pub fn minimum_by_key<T: Clone, K: PartialOrd>(items: Vec<T>, key: impl Fn(T) -> K) -> T {
    let best = |least: T, item: T| if key(item.clone()) < key(least.clone()) { item } else { least };
    items.into_iter().reduce(best).expect("a list that is not empty")
}

/// The first whose key is the greatest.
pub fn maximum_by_key<T: Clone, K: PartialOrd>(items: Vec<T>, key: impl Fn(T) -> K) -> T {
    let best = |most: T, item: T| if key(item.clone()) > key(most.clone()) { item } else { most };
    items.into_iter().reduce(best).expect("a list that is not empty")
}

/// The item at a position; a negative one counts from the end.
pub fn index<T: Clone>(items: &[T], place: i64) -> T {
    let place = if place < 0 { place + items.len() as i64 } else { place };
    items[usize::try_from(place).expect("a position within the list")].clone()
}

fn clamped(place: i64, length: usize) -> usize {
    let place = if place < 0 { place + length as i64 } else { place };
    place.clamp(0, length as i64) as usize
}

/// Part of a list, as far as there is one.
pub fn slice<T: Clone>(items: &[T], start: i64, stop: i64) -> Vec<T> {
    let (start, stop) = (clamped(start, items.len()), clamped(stop, items.len()));
    items[start..stop.max(start)].to_vec()
}

/// The characters of a text, as texts.
pub fn characters(text: &str) -> Vec<String> {
    text.chars().map(|character| character.to_string()).collect()
}

/// Each item once, where it stood first.
pub fn distinct<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// Whether there is one, and all are such.
pub fn all_characters(text: &str, kind: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(kind)
}

/// How often it is there.
pub fn occurrences<T: PartialEq>(items: &[T], wanted: &T) -> i64 {
    items.iter().filter(|item| *item == wanted).count() as i64
}

/// Where it stands first.
pub fn position<T: PartialEq>(items: &[T], wanted: &T) -> i64 {
    items.iter().position(|item| item == wanted).expect("an item of the list") as i64
}

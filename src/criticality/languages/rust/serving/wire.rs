//! MessagePack, and how the values of a specification stand in it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Display;

pub const DECIMAL: u8 = 2;
pub const MOMENT: u8 = 3;
const TABLE: u8 = 5;

/// What can be written.
pub trait Put {
    fn put(&self, out: &mut Vec<u8>);
    /// 0 for a result, 1 for an error.
    fn status(&self) -> i64 {
        0
    }
    /// Writes a list of such values; bytes have a form of their own.
    fn put_all(items: &[Self], out: &mut Vec<u8>)
    where
        Self: Sized,
    {
        list(out, items.len());
        items.iter().for_each(|item| item.put(out));
    }
}

/// What can be read; the error says why it cannot be made.
pub trait Take: Sized {
    fn take(from: &mut Reader) -> Result<Self, String>;
    fn take_all(from: &mut Reader) -> Result<Vec<Self>, String> {
        (0..from.list()?).map(|_| Self::take(from)).collect()
    }
}

/// What a constructor returns: the value, or why there is none.
pub trait Made<T> {
    fn made(self) -> Result<T, String>;
}

impl<T> Made<T> for T {
    fn made(self) -> Result<T, String> {
        Ok(self)
    }
}

impl<T, E: Display> Made<T> for Result<T, E> {
    fn made(self) -> Result<T, String> {
        self.map_err(|why| why.to_string())
    }
}

/// Takes one value after another off the bytes of a frame.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("the frame ends too early")?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.bytes(1)?[0])
    }

    fn number(&mut self, size: usize) -> Result<u64, String> {
        Ok(self.bytes(size)?.iter().fold(0, |whole, part| whole << 8 | u64::from(*part)))
    }

    /// A length: in the marker itself, or in the bytes that a marker from `first` on says.
    fn sized(&mut self, fixed: u8, mask: u8, first: u8, sizes: &[usize]) -> Result<usize, String> {
        let marker = self.byte()?;
        if mask > 0 && marker & !mask == fixed {
            return Ok(usize::from(marker & mask));
        }
        let place = usize::from(marker).wrapping_sub(usize::from(first));
        let size = sizes.get(place).ok_or(format!("the marker {marker:#x} was not expected"))?;
        Ok(self.number(*size)? as usize)
    }

    pub fn list(&mut self) -> Result<usize, String> {
        self.sized(0x90, 0x0f, 0xdc, &[2, 4])
    }

    pub fn items(&mut self, count: usize) -> Result<(), String> {
        if self.list()? == count { Ok(()) } else { Err(format!("{count} values were expected")) }
    }

    /// The number and the name of a call.
    pub fn request(&mut self) -> Result<(i64, String), String> {
        self.items(3)?;
        Ok((i64::take(self)?, String::take(self)?))
    }

    pub fn extension(&mut self, kind: u8) -> Result<&'a [u8], String> {
        let marker = self.byte()?;
        let size = match marker {
            0xd4..=0xd8 => 1 << (marker - 0xd4),
            0xc7..=0xc9 => self.number(1 << (marker - 0xc7))? as usize,
            _ => 0,
        };
        if size == 0 || self.byte()? != kind {
            return Err(format!("an extension of type {kind} was expected"));
        }
        self.bytes(size)
    }

    fn nothing(&mut self) -> bool {
        let none = self.0.first() == Some(&0xc0);
        self.0 = &self.0[usize::from(none)..];
        none
    }
}

fn head(out: &mut Vec<u8>, marker: u8, size: usize) {
    out.push(marker);
    out.extend((size as u32).to_be_bytes());
}

pub fn list(out: &mut Vec<u8>, count: usize) {
    head(out, 0xdd, count);
}

pub fn whole(out: &mut Vec<u8>, value: i64) {
    out.push(0xd3);
    out.extend(value.to_be_bytes());
}

pub fn text(out: &mut Vec<u8>, value: &str) {
    head(out, 0xdb, value.len());
    out.extend(value.as_bytes());
}

pub fn extension(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    head(out, 0xc9, bytes.len());
    out.push(kind);
    out.extend(bytes);
}

impl Take for i64 {
    fn take(from: &mut Reader) -> Result<Self, String> {
        let marker = from.byte()?;
        match marker {
            0..0x80 | 0xe0.. => Ok(i64::from(marker as i8)),
            0xcc..=0xcf => i64::try_from(from.number(1 << (marker & 3))?).map_err(|why| why.to_string()),
            0xd0..=0xd3 => {
                let shift = 64 - (8 << (marker & 3));
                Ok((from.number(1 << (marker & 3))? << shift) as i64 >> shift)
            }
            _ => Err("a whole number of 64 bits was expected".to_string()),
        }
    }
}

impl Take for f64 {
    fn take(from: &mut Reader) -> Result<Self, String> {
        if from.0.first() != Some(&0xcb) {
            return Ok(i64::take(from)? as f64);
        }
        from.byte()?;
        Ok(f64::from_bits(from.number(8)?))
    }
}

impl Take for bool {
    fn take(from: &mut Reader) -> Result<Self, String> {
        Ok(from.byte()? == 0xc3)
    }
}

impl Take for () {
    fn take(from: &mut Reader) -> Result<Self, String> {
        from.byte().map(|_| ())
    }
}

impl Take for String {
    fn take(from: &mut Reader) -> Result<Self, String> {
        let size = from.sized(0xa0, 0x1f, 0xd9, &[1, 2, 4])?;
        String::from_utf8(from.bytes(size)?.to_vec()).map_err(|why| why.to_string())
    }
}

impl Take for u8 {
    fn take(from: &mut Reader) -> Result<Self, String> {
        from.byte()
    }

    fn take_all(from: &mut Reader) -> Result<Vec<Self>, String> {
        let size = from.sized(0, 0, 0xc4, &[1, 2, 4])?;
        Ok(from.bytes(size)?.to_vec())
    }
}

impl<T: Take> Take for Vec<T> {
    fn take(from: &mut Reader) -> Result<Self, String> {
        T::take_all(from)
    }
}

impl<T: Take + Ord> Take for BTreeSet<T> {
    fn take(from: &mut Reader) -> Result<Self, String> {
        Ok(Vec::take(from)?.into_iter().collect())
    }
}

impl<K: Take + Ord, V: Take> Take for BTreeMap<K, V> {
    fn take(from: &mut Reader) -> Result<Self, String> {
        let pairs: Vec<(K, V)> = Vec::take(&mut Reader(from.extension(TABLE)?))?;
        Ok(pairs.into_iter().collect())
    }
}

impl<T: Take> Take for Option<T> {
    fn take(from: &mut Reader) -> Result<Self, String> {
        if from.nothing() { Ok(None) } else { T::take(from).map(Some) }
    }
}

impl<T: Put + ?Sized> Put for &T {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }
}

impl Put for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        whole(out, *self);
    }
}

impl Put for f64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(0xcb);
        out.extend(self.to_bits().to_be_bytes());
    }
}

impl Put for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(if *self { 0xc3 } else { 0xc2 });
    }
}

impl Put for () {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(0xc0);
    }
}

impl Put for str {
    fn put(&self, out: &mut Vec<u8>) {
        text(out, self);
    }
}

impl Put for String {
    fn put(&self, out: &mut Vec<u8>) {
        text(out, self);
    }
}

impl Put for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        whole(out, i64::from(*self));
    }

    fn put_all(items: &[Self], out: &mut Vec<u8>) {
        head(out, 0xc6, items.len());
        out.extend(items);
    }
}

impl<T: Put> Put for [T] {
    fn put(&self, out: &mut Vec<u8>) {
        T::put_all(self, out);
    }
}

impl<T: Put> Put for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put_all(self, out);
    }
}

impl<T: Put> Put for BTreeSet<T> {
    fn put(&self, out: &mut Vec<u8>) {
        list(out, self.len());
        self.iter().for_each(|item| item.put(out));
    }
}

impl<K: Put, V: Put> Put for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        let mut inner = Vec::new();
        list(&mut inner, self.len());
        self.iter().for_each(|pair| pair.put(&mut inner));
        extension(out, TABLE, &inner);
    }
}

impl<T: Put> Put for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.put(out),
            None => out.push(0xc0),
        }
    }
}

impl<T: Put, E: Error> Put for Result<T, E> {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Ok(value) => value.put(out),
            Err(error) => {
                list(out, 2);
                text(out, &format!("{error:?}"));
                text(out, &error.to_string());
            }
        }
    }

    fn status(&self) -> i64 {
        i64::from(self.is_err())
    }
}

macro_rules! tuples {
    ($count:literal $($name:ident $place:tt)+) => {
        impl<$($name: Put),+> Put for ($($name,)+) {
            fn put(&self, out: &mut Vec<u8>) {
                list(out, $count);
                $(self.$place.put(out);)+
            }
        }
        impl<$($name: Take),+> Take for ($($name,)+) {
            fn take(from: &mut Reader) -> Result<Self, String> {
                from.items($count)?;
                Ok(($($name::take(from)?,)+))
            }
        }
    };
}
tuples!(1 A 0);
tuples!(2 A 0 B 1);
tuples!(3 A 0 B 1 C 2);
tuples!(4 A 0 B 1 C 2 D 3);
tuples!(5 A 0 B 1 C 2 D 3 E 4);
tuples!(6 A 0 B 1 C 2 D 3 E 4 F 5);

/// Types that are made of another, of their fields, or of a text in an extension.
macro_rules! written {
    ($name:ty, $kind:expr, $read:expr, $write:expr) => {
        impl Put for $name {
            fn put(&self, out: &mut Vec<u8>) {
                extension(out, $kind, ($write)(self).as_bytes());
            }
        }
        impl Take for $name {
            fn take(from: &mut Reader) -> Result<Self, String> {
                let text = std::str::from_utf8(from.extension($kind)?).map_err(|why| why.to_string())?;
                ($read)(text).made()
            }
        }
    };
}

macro_rules! newtype {
    ($name:ident, $base:ty) => {
        impl Put for $name {
            fn put(&self, out: &mut Vec<u8>) {
                self.get().put(out);
            }
        }
        impl Take for $name {
            fn take(from: &mut Reader) -> Result<Self, String> {
                $name::new(<$base as Take>::take(from)?).made()
            }
        }
    };
}

macro_rules! enumeration {
    ($name:ident) => {
        impl Put for $name {
            fn put(&self, out: &mut Vec<u8>) {
                text(out, self.text());
            }
        }
        impl Take for $name {
            fn take(from: &mut Reader) -> Result<Self, String> {
                let text = String::take(from)?;
                $name::ALL.into_iter().find(|member| member.text() == text).ok_or(text)
            }
        }
    };
}

macro_rules! record {
    ($name:ident, $count:literal, $($field:ident)+, |$value:ident| $($read:expr),+; $make:expr) => {
        impl Put for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let $value = self;
                list(out, $count);
                $($read.put(out);)+
            }
        }
        impl Take for $name {
            fn take(from: &mut Reader) -> Result<Self, String> {
                from.items($count)?;
                $(let $field = Take::take(from)?;)+
                $make.made()
            }
        }
    };
}
pub(crate) use {enumeration, newtype, record, written};

//! Decimal numbers with nine places, exact for sums and differences.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Rem, Sub, SubAssign};
use std::str::FromStr;

const UNIT: i128 = 1_000_000_000;

/// A decimal number; what has more than nine places is cut off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(i128);

impl Decimal {
    /// Nothing.
    pub const ZERO: Decimal = Decimal(0);
    /// One.
    pub const ONE: Decimal = Decimal(UNIT);

    /// `units / 10^scale`: `Decimal::new(1250, 2)` is 12.50. The scale is 0 to 9.
    pub fn new(units: i64, scale: u32) -> Self {
        Self(i128::from(units) * 10_i128.pow(9 - scale.min(9)))
    }

    /// Without its sign.
    pub fn abs(self) -> Self {
        Self(self.0.abs())
    }

    /// The whole number towards zero.
    pub fn trunc(self) -> i64 {
        (self.0 / UNIT) as i64
    }

    /// The greatest whole number that is not greater, as a decimal.
    pub fn floor(self) -> Self {
        Self(self.0.div_euclid(UNIT) * UNIT)
    }
}

impl From<i64> for Decimal {
    fn from(whole: i64) -> Self {
        Self(i128::from(whole) * UNIT)
    }
}

impl FromStr for Decimal {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = text.strip_prefix('-').unwrap_or(text);
        let (whole, part) = bare.split_once('.').unwrap_or((bare, ""));
        let digits = format!("{whole}{part:0<9}");
        if part.len() > 9 || whole.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err("not a decimal number with at most nine places");
        }
        let units: i128 = digits.parse().map_err(|_| "too many digits")?;
        Ok(Self(if bare.len() < text.len() { -units } else { units }))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0.abs() / UNIT, self.0.abs() % UNIT);
        let digits = format!("{part:09}");
        let shown = digits.trim_end_matches('0');
        let sign = if self.0 < 0 { "-" } else { "" };
        if shown.is_empty() {
            write!(f, "{sign}{whole}")
        } else {
            write!(f, "{sign}{whole}.{shown}")
        }
    }
}

impl Add for Decimal {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Decimal {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul for Decimal {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0 / UNIT)
    }
}

impl Div for Decimal {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self(self.0 * UNIT / other.0)
    }
}

impl Rem for Decimal {
    type Output = Self;
    fn rem(self, other: Self) -> Self {
        Self(self.0 % other.0)
    }
}

impl Neg for Decimal {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl AddAssign for Decimal {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Decimal {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Sum for Decimal {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

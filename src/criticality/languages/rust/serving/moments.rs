//! Days, moments and identifiers on the wire.

use crate::scalars::{Date, Timestamp, Uuid};
use crate::wire::{MOMENT, Made, Put, Reader, Take, extension, text, written};

const DAY: i64 = 86_400;

/// The day of a civil date, counted from 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil(days: i64) -> String {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted - era * 146_097;
    let years = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let place = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * place + 2) / 5 + 1, if place < 10 { place + 3 } else { place - 9 });
    format!("{:04}-{month:02}-{day:02}", years + era * 400 + i64::from(month <= 2))
}

fn date(written: &str) -> Result<Date, String> {
    let parts: Vec<i64> = written.split('-').filter_map(|part| part.parse().ok()).collect();
    if let [year, month, day] = parts[..] { Ok(Date(days(year, month, day))) } else { Err("no day".to_string()) }
}

fn timestamp(written: &str) -> Result<Timestamp, String> {
    let (day, time) = written.split_once('T').ok_or("no moment")?;
    let clock = time.trim_end_matches("+00:00").trim_end_matches('Z');
    let parts: Vec<i64> = clock.split(':').filter_map(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = parts[..] else { return Err("moments are whole seconds here".to_string()) };
    Ok(Timestamp(date(day)?.0 * DAY + hours * 3600 + minutes * 60 + seconds))
}

fn moment(at: &Timestamp) -> String {
    let (day, rest) = (at.0.div_euclid(DAY), at.0.rem_euclid(DAY));
    format!("{}T{:02}:{:02}:{:02}+00:00", civil(day), rest / 3600, rest / 60 % 60, rest % 60)
}

written!(Date, MOMENT, date, |day: &Date| civil(day.0));
written!(Timestamp, MOMENT, timestamp, moment);

impl Put for Uuid {
    fn put(&self, out: &mut Vec<u8>) {
        let digits = format!("{:032x}", self.0);
        let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].map(|(from, to)| &digits[from..to]);
        text(out, &parts.join("-"));
    }
}

impl Take for Uuid {
    fn take(from: &mut Reader) -> Result<Self, String> {
        let digits = String::take(from)?.replace('-', "");
        u128::from_str_radix(&digits, 16).map(Uuid).map_err(|why| why.to_string())
    }
}

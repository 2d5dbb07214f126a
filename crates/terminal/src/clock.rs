//! Times: seconds since 1970 in every format, UTC for people.
//!
//! ```
//! use sealstone_terminal::clock;
//!
//! assert_eq!(clock::show(951_782_399), "2000-02-28 23:59:59 UTC");
//! ```

use std::time::{SystemTime, UNIX_EPOCH};

/// Now.
pub fn now() -> u64 {
    since_1970(SystemTime::now()).unwrap_or(0)
}

/// The seconds since 1970; `None` before.
pub fn since_1970(time: SystemTime) -> Option<u64> {
    time.duration_since(UNIX_EPOCH)
        .ok()
        .map(|since| since.as_secs())
}

/// `2026-11-21 01:03:33 UTC`, or the number of seconds after year 9999.
pub fn show(time: u64) -> String {
    let (days, second) = (time / 86_400, time % 86_400);
    // After year 9999: a clock or a file is wrong.
    if days > 2_932_896 {
        return format!("{time} seconds after 1970");
    }
    let (year, month, day) = civil(days);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Reads `2026-11-21` (its first second), `2026-11-21T01:03:33Z`, what [`show`] writes, or
/// `@1700000000`; all of them are UTC.
pub fn parse(text: &str) -> Result<u64, &'static str> {
    const FORM: &str = "a time is 2026-11-21 (00:00:00 UTC), 2026-11-21T01:03:33Z or @SECONDS";
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.parse().map_err(|_| FORM);
    }
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let utc = |time: &'_ str| {
        let time = time.strip_suffix('Z').or(time.strip_suffix(" UTC"))?;
        let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
        (hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
    };
    let day = numbers(date, '-', [4, 2, 2]).and_then(days).ok_or(FORM)?;
    Ok(day * 86_400 + time.map_or(Some(0), utc).ok_or(FORM)?)
}

/// Three numbers of these many digits.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(separator);
    let mut read = [0; 3];
    for (number, digits) in read.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        let all_digits = part.bytes().all(|byte| byte.is_ascii_digit());
        *number = all_digits.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(read)
}

/// Days since 1970-01-01; `None` if there is no such day, or it is earlier.
fn days([year, month, day]: [u64; 3]) -> Option<u64> {
    let shifted = year.checked_sub(u64::from(month <= 2))?;
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day.checked_sub(1)?;
    let leap_days = shifted / 4 - shifted / 100 + shifted / 400;
    let days = (shifted * 365 + leap_days + day_of_year).checked_sub(719_468)?;
    (civil(days) == (year, month, day)).then_some(days)
}

/// Year, month and day of a number of days since 1970-01-01 (Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms").
fn civil(days: u64) -> (u64, u64, u64) {
    // Days since 0000-03-01: years then end with the leap day.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_date_1() {
        // date -u -d @N '+%F %T UTC'
        for (time, shown) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (253_402_300_799, "9999-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(show(time), shown);
            assert_eq!(parse(shown), Ok(time));
            assert_eq!(
                parse(&shown.replacen(' ', "T", 1).replace(" UTC", "Z")),
                Ok(time)
            );
            assert_eq!(parse(&format!("@{time}")), Ok(time));
            assert_eq!(parse(&shown[..10]), Ok(time - time % 86_400));
        }
        for bad in [
            "",
            "@",
            "2026",
            "2026-13-01",
            "2026-00-01",
            "2026-02-29",
            "2026-01-00",
            "1969-12-31",
            "26-01-01",
            "2026-1-1",
            "+026-01-01",
            "2026-01-01T",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00Z ",
            "2026-01-01-01",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(show(253_402_300_800), "253402300800 seconds after 1970");
    }
}

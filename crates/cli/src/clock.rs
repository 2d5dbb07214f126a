//! Times: seconds since 1970 in every format, UTC for people.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now.
pub(crate) fn now() -> u64 {
    since_1970(SystemTime::now()).unwrap_or(0)
}

/// The seconds since 1970; `None` before.
pub(crate) fn since_1970(time: SystemTime) -> Option<u64> {
    time.duration_since(UNIX_EPOCH)
        .ok()
        .map(|since| since.as_secs())
}

/// `2026-11-21 01:03:33 UTC`, or the number of seconds after year 9999.
pub(crate) fn show(time: u64) -> String {
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
        }
        assert_eq!(show(253_402_300_800), "253402300800 seconds after 1970");
    }
}

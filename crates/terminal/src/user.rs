//! The user of this process.

const PASSWD: &str = "/etc/passwd";

/// The name of the user, from the environment or the system's list of users.
#[must_use]
pub fn name() -> Option<String> {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let listed = || {
        let list = std::fs::read(PASSWD).ok()?;
        let user = rustix::process::getuid().as_raw();
        name_in(&String::from_utf8_lossy(&list), user)
    };
    ["USER", "LOGNAME"].iter().find_map(set).or_else(listed)
}

/// The name of the user with this number in a list of the form passwd(5).
fn name_in(list: &str, user: u32) -> Option<String> {
    list.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id.parse() == Ok(user)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_number() {
        let list = "root:x:0:0:root:/root:/bin/bash\n# nobody\nalice:x:1000:1000::/home/alice:/bin/sh\nbroken:x\n";
        assert_eq!(name_in(list, 0).as_deref(), Some("root"));
        assert_eq!(name_in(list, 1000).as_deref(), Some("alice"));
        assert_eq!(name_in(list, 100), None);
    }
}

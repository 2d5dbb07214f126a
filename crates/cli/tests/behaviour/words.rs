//! The 24 words, typed at a terminal.

use crate::terminal::session;
use crate::world::{PROFILE, World};

/// A test vector of BIP-39, as a numbered list with a wrong last word.
const LIST: [&str; 3] = [
    "1. hamster 2. diagram 3. private 4. dutch 5. cause 6. delay 7. private 8. meat",
    "9. slide 10. toddler 11. razor 12. book 13. happy 14. fancy 15. gospel 16. tennis",
    "17.maple 18.dilemma 19.loan 20.word 21.shrug 22.inflict 23.delay 24.lenght",
];

#[test]
fn a_wrong_word_is_pointed_at_and_only_it_is_typed_again() {
    let world = World::empty();
    let restore = format!(
        "sealstone passport restore -o x.passport --label x {PROFILE} --passphrase-file passphrase"
    );
    // The user accepts the offer, types another spelling, or names another place.
    for last in ["", "leng", "24 length"] {
        let typed = [&LIST[..], &[last]].concat();
        let Some((screen, code)) = session(&world, &restore, &typed) else {
            return;
        };
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains("word 24 may be length"), "{screen}");
        assert!(screen.contains("Word 9 and on: "), "{screen}");
        for half in ["x.passport", "x.pub"] {
            std::fs::remove_file(world.path(half)).unwrap();
        }
    }
    let (screen, code) = session(&world, &restore, &["hamster", ""]).unwrap();
    assert!(
        screen.contains("only 1 of 24 words") && code == Some(2),
        "{screen}"
    );
}

#[test]
fn lines_that_are_pasted_at_once_are_all_read() {
    let world = World::empty();
    let restore = format!(
        "sealstone passport restore -o x.passport --label x {PROFILE} --passphrase-file passphrase"
    );
    let list = LIST.join("\n").replace("lenght", "length");
    for list in [list.replace(". ", ".").replace(' ', "\n"), list] {
        let Some((screen, code)) = session(&world, &restore, &[&list]) else {
            return;
        };
        assert_eq!(code, Some(0), "{screen}");
        for half in ["x.passport", "x.pub"] {
            std::fs::remove_file(world.path(half)).unwrap();
        }
    }
}

/// Typed words are not lost by a word that fits by chance, an empty line, or one word too many.
#[test]
fn nothing_is_taken_by_enter_that_may_be_another_passport() {
    let world = World::empty();
    let restore = format!(
        "sealstone passport restore -o x.passport --label x {PROFILE} --passphrase-file passphrase"
    );
    let right = |last: &str| {
        [LIST[0], LIST[1], LIST[2]]
            .join(" ")
            .replace("lenght", last)
    };
    // "able" is on the list, so only the checksum shows the error. Enter does not accept it.
    let typed = [&right("able")[..], "", "", "24. length"];
    let Some((screen, code)) = session(&world, &restore, &typed) else {
        return;
    };
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(screen.matches("do not fit together").count(), 3, "{screen}");
    assert!(!screen.contains(" ["), "{screen}");
    std::fs::remove_file(world.path("x.passport")).unwrap();
    std::fs::remove_file(world.path("x.pub")).unwrap();

    let many = right("length zoo");
    let typed = [&many[..], &right("length")];
    let (screen, code) = session(&world, &restore, &typed).unwrap();
    assert!(screen.contains("24 words, and these are 25"), "{screen}");
    assert_eq!(code, Some(0), "{screen}");
    std::fs::remove_file(world.path("x.passport")).unwrap();
    std::fs::remove_file(world.path("x.pub")).unwrap();

    // All words again, in answer to a prompt for one word.
    let typed = [&right("able")[..], LIST[0], LIST[1], LIST[2], "length"];
    let (screen, code) = session(&world, &restore, &typed).unwrap();
    assert_eq!(code, Some(0), "{screen}");
}

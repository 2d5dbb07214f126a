//! A value that was read from a file keeps the file's name. Its errors begin with the name.

use std::ops::{Deref, DerefMut};

use sealstone_files::Document;

use crate::failure::{About, Failure, Result};

/// A value that was read from a file, and the file's name in messages.
#[derive(Clone, Debug)]
pub(crate) struct Named<T> {
    name: String,
    value: T,
}

impl<T> Named<T> {
    /// A value from the file that messages call `name`.
    pub(crate) fn new(name: &str, value: T) -> Self {
        let name = name.to_owned();
        Self { name, value }
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Another value of the same file.
    pub(crate) fn with<U>(&self, value: U) -> Named<U> {
        Named::new(&self.name, value)
    }

    /// Turns the value into another one of the same file.
    pub(crate) fn then<U, E: Into<Failure>>(
        self,
        next: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<Named<U>> {
        let Self { name, value } = self;
        let value = next(value).about(&name)?;
        Ok(Named { name, value })
    }

    /// Uses the value up.
    pub(crate) fn finish<U, E: Into<Failure>>(
        self,
        last: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<U> {
        self.then(last).map(|named| named.value)
    }

    /// Works with the value.
    pub(crate) fn work<'s, U, E: Into<Failure>>(
        &'s mut self,
        work: impl FnOnce(&'s mut T) -> Result<U, E>,
    ) -> Result<U> {
        work(&mut self.value).about(&self.name)
    }

    /// Looks at the value.
    pub(crate) fn look<U, E: Into<Failure>>(
        &self,
        look: impl FnOnce(&T) -> Result<U, E>,
    ) -> Result<U> {
        look(&self.value).about(&self.name)
    }
}

impl<T> Deref for Named<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Named<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// Reads what is in a file.
pub(crate) trait Parse {
    /// The result of `parse`.
    fn parse<'a, T, E: Into<Failure>>(
        &'a self,
        parse: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Result<T>;
}

impl Parse for Document {
    fn parse<'a, T, E: Into<Failure>>(
        &'a self,
        parse: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Result<T> {
        parse(self).about(self.name())
    }
}

#[cfg(test)]
mod tests {
    use sealstone_files::Input;

    use super::*;

    fn missing() -> Result<(), std::io::Error> {
        Err(std::io::Error::other("it broke"))
    }

    #[test]
    fn errors_begin_with_the_name_at_every_step() {
        let mut number = Named::new("a.sealed", 1);
        let steps = [
            number.look(|_| missing()),
            number.work(|_| missing()),
            number.with(2).finish(|_| missing()),
            number.clone().then(|_| missing()).map(drop),
        ];
        for step in steps {
            assert_eq!(step.unwrap_err().what(), "a.sealed: it broke");
        }
        let next = number.then(|number| Ok::<_, Failure>(number + 1)).unwrap();
        assert_eq!((next.name(), *next), ("a.sealed", 2));
    }

    /// An input names itself in the system's errors.
    #[test]
    fn a_file_is_named_once() {
        let scratch = tempfile::NamedTempFile::new().unwrap();
        let file = std::fs::File::options().write(true).open(scratch.path());
        let input = Input::new(file.unwrap(), "a.sealed").unwrap();
        let bytes = Named::new(input.name(), ()).then(|()| input.document(10));
        let failure = bytes.unwrap_err();
        assert!(failure.what().starts_with("a.sealed: "), "{failure:?}");
        assert_eq!(failure.what().matches("a.sealed").count(), 1, "{failure:?}");
    }
}

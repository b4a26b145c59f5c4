//! Reading the input of a case: typed, and no field left over.

use std::{cell::RefCell, collections::BTreeSet};

use serde_json::{Map, Value};

use super::Unreadable;
use hookproof_core::codec;

/// The fields of an input. [`Fields::done`] refuses what nobody asked for.
pub struct Fields<'a> {
    map: &'a Map<String, Value>,
    asked: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Fields<'a> {
    /// The fields of an object.
    pub fn new(map: &'a Map<String, Value>) -> Self {
        Self { map, asked: RefCell::default() }
    }

    /// A field as it is; `null` is none.
    pub fn any(&self, name: &'static str) -> Option<&'a Value> {
        self.asked.borrow_mut().insert(name);
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// A text.
    pub fn text(&self, name: &'static str) -> Result<Option<&'a str>, Unreadable> {
        self.typed(name, Value::as_str)
    }

    /// A whole number.
    pub fn integer(&self, name: &'static str) -> Result<Option<i64>, Unreadable> {
        self.typed(name, Value::as_i64)
    }

    /// A whole number that is not negative.
    pub fn unsigned(&self, name: &'static str) -> Result<Option<u64>, Unreadable> {
        self.typed(name, Value::as_u64)
    }

    /// True or false.
    pub fn flag(&self, name: &'static str) -> Result<Option<bool>, Unreadable> {
        self.typed(name, Value::as_bool)
    }

    /// A list.
    pub fn list(&self, name: &'static str) -> Result<Option<&'a Vec<Value>>, Unreadable> {
        self.typed(name, Value::as_array)
    }

    /// An object.
    pub fn object(&self, name: &'static str) -> Result<Option<Fields<'a>>, Unreadable> {
        Ok(self.typed(name, Value::as_object)?.map(Fields::new))
    }

    /// A list of texts.
    pub fn texts(&self, name: &'static str) -> Result<Option<Vec<&'a str>>, Unreadable> {
        let Some(list) = self.list(name)? else { return Ok(None) };
        let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
        texts.map(Some).ok_or_else(|| Unreadable(format!("`{name}` is no list of texts")))
    }

    /// Bytes, written as base64.
    pub fn bytes(&self, name: &'static str) -> Result<Option<Vec<u8>>, Unreadable> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let bytes = codec::base64(text.as_bytes());
        bytes.map(Some).ok_or_else(|| Unreadable(format!("`{name}` is no base64")))
    }

    /// The names of all fields.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.map.keys().map(String::as_str)
    }

    /// Refuses fields that were not asked for: a case that means more than it says to us.
    pub fn done(&self) -> Result<(), Unreadable> {
        let asked = self.asked.borrow();
        match self.map.keys().find(|name| !asked.contains(name.as_str())) {
            Some(name) => Err(Unreadable(format!("unknown input field `{name}`"))),
            None => Ok(()),
        }
    }

    fn typed<T>(
        &self,
        name: &'static str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Unreadable> {
        match self.any(name) {
            None => Ok(None),
            Some(value) => match read(value) {
                Some(typed) => Ok(Some(typed)),
                None => Err(Unreadable(format!("`{name}` has the wrong type"))),
            },
        }
    }
}

/// A field that has to be there.
pub(super) fn needed<T>(name: &str, value: Option<T>) -> Result<T, Unreadable> {
    value.ok_or_else(|| Unreadable(format!("`{name}` is missing")))
}

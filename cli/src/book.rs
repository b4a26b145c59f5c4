//! `hookproof book`: books an operation by hand.

use std::io::{self, Write};

use clap::Args;
use hookproof::{Named, entity_id, ident};
use hookproof_core::model::{Operation, Transition};

use crate::{
    End,
    database::{Database, wait},
};

/// Options of `hookproof book`.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: Database,

    /// The name of the entity type, as the receiver declares it.
    #[arg(long, value_name = "NAME")]
    entity_type: String,

    /// Which entity, as the source calls it.
    #[arg(long, value_name = "ID")]
    resource: String,

    /// Whose it is, where the source has accounts.
    #[arg(long, value_name = "NAME", default_value = "")]
    account: String,

    /// The number of the transition that books, as the receiver's own model has it. Nothing here knows the
    /// model: a wrong number, name or id books something else.
    #[arg(long, value_name = "N")]
    transition: u16,

    /// Which time, where the transition can happen more than once.
    #[arg(long, value_name = "N", default_value_t = 0)]
    occurrence: u64,

    /// Who books. The line in the archive has the id that is printed for this name.
    #[arg(long, value_name = "NAME")]
    by: String,
}

/// Books, and says under which key.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> io::Result<End> {
    let place = match options.database.place() {
        Ok(place) => place,
        Err(fault) => return Ok(fault.end()),
    };
    let (operation, by) = (options.operation(), ident::named(&["person", &options.by]));
    let key = operation.key();
    match wait(place.book(operation, by))? {
        Err(fault) => Ok(fault.end()),
        Ok(true) => {
            writeln!(out, "booked {key}, by {} ({})", options.by, ident::shown(by))?;
            writeln!(out, "{}", options.named())?;
            Ok(End::Kept)
        }
        Ok(false) => {
            writeln!(out, "{key} is booked already; nothing was changed")?;
            writeln!(out, "{}", options.named())?;
            Ok(End::Broken)
        }
    }
}

impl Options {
    /// What the key stands for, for whoever looks for a typo.
    fn named(&self) -> String {
        let Self { account, entity_type, resource, transition, occurrence, .. } = self;
        format!(
            "which is: entity type {entity_type:?}, resource {resource:?}, account {account:?}, \
             transition {transition}, occurrence {occurrence}"
        )
    }

    fn operation(&self) -> Operation {
        let Self { account, entity_type, resource, .. } = self;
        let entity = entity_id(&Named { account, entity_type, resource });
        Operation { entity, transition: Transition(self.transition), occurrence: self.occurrence }
    }
}

pub(crate) const ENDS: &str = "\
What was done by hand is booked by hand, before its event comes: then the event finds it done, moves the state, \
and runs no handler. The state itself is not moved here.

The number of a transition is the application's own, and so are the names: nothing here can tell a typo, which \
books something else and leaves what was meant open. What was booked is printed; compare it.

    hookproof book --database sqlite:shop.db --entity-type order --resource order_1 --transition 1 --by alice

Exit codes: 0 booked; 1 it was booked already; 2 a wrong option; 3 a database that cannot be used";

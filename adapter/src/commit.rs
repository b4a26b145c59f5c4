//! Plans, carried out: the seal of each is broken by its own commit and by nothing else.

use hookproof_core::{
    handler::{Handler, Incoming},
    inbox::Receipt,
    model::Operation,
    plan::{self, Outcome, Plan, Put, Write},
};

use crate::{
    crash::{self, Point},
    entity::{AnyKeeper, Kept, Named},
    error::Error,
    rogue::{self, Rogue},
    store::{Bundle, Content, Letter, Store},
};

/// Commits many plans in one transaction, the one that their rows were loaded in. Each has its own
/// answer; a plan whose guard fails is left out, and the others commit.
///
/// A batch that the database refuses as a whole is tried again one by one: a row that it cannot take
/// must not keep a hundred strangers out. `content` is what each plan's insert stores besides; it may
/// be empty where no plan inserts a row that has any.
pub async fn commit_each<S: Store, T>(
    store: &S,
    tx: S::Tx,
    plans: Vec<Plan<T>>,
    content: &[Content<'_>],
) -> Vec<Result<T, Error>> {
    let results = {
        let bundles: Vec<Bundle<'_>> = (0..)
            .zip(&plans)
            .map(|(at, plan): (usize, _)| Bundle {
                writes: plan.writes(),
                content: content.get(at).copied().unwrap_or(Content::None),
            })
            .collect();
        match together(store, tx, &bundles).await {
            Err(Error::Database(_)) if bundles.len() > 1 => one_by_one(store, &bundles).await,
            Err(error) => vec![Err(error); bundles.len()],
            Ok(results) => results,
        }
    };
    let outcomes = results.iter().map(outcome).collect();
    plan::commit_each(plans, |_| outcomes)
        .into_iter()
        .zip(results)
        .map(|(released, result)| result.and_then(|()| given_out(released)))
        .collect()
}

/// Commits one plan in the transaction that its rows were loaded in.
pub async fn commit<S: Store, T>(
    store: &S,
    tx: S::Tx,
    plan: Plan<T>,
    content: Content<'_>,
) -> Result<T, Error> {
    let bundle = Bundle { writes: plan.writes(), content };
    let result = alone(store, tx, &bundle).await;
    release(plan, result)
}

/// Commits the work on a receipt: its guards and writes first, which holds their locks, then the handler
/// where the plan says so, inside the same transaction, then the commit. A handler's error rolls
/// everything back and is given out, for [`hookproof_core::work::Job::fail`].
pub async fn commit_work<S: Store, T, H: Handler<S::Tx> + Sync>(
    store: &S,
    tx: S::Tx,
    plan: Plan<T>,
    receipt: &Receipt,
    handler: &H,
) -> Result<T, Error> {
    commit_kept(store, tx, plan, receipt, handler, None).await
}

/// [`commit_work`] where the entity's state is in the application's own table as well: it is stored there
/// before the handler runs, in the same transaction.
pub(crate) async fn commit_kept<S: Store, T, H: Handler<S::Tx> + Sync>(
    store: &S,
    tx: S::Tx,
    plan: Plan<T>,
    receipt: &Receipt,
    handler: &H,
    table: Option<Table<'_, S::Tx>>,
) -> Result<T, Error> {
    let result = handled(store, tx, plan.writes(), receipt, handler, table).await;
    release(plan, result)
}

/// The application's table of an entity, and the entity.
pub(crate) type Table<'a, Tx> = (&'a dyn AnyKeeper<Tx>, Named<'a>);

async fn together<S: Store>(
    store: &S,
    mut tx: S::Tx,
    bundles: &[Bundle<'_>],
) -> Result<Vec<Result<(), Error>>, Error> {
    let written = store.write_each(&mut tx, bundles).await;
    if written.is_err() && rogue::is(Rogue::AnyErrorIsDuplicate) {
        return Ok(vec![Err(Error::Conflict); bundles.len()]);
    }
    let standing = written?;
    if standing.contains(&true) {
        crash::here(Point::BeforeCommit).await;
        store.commit(tx).await?;
    } else {
        store.rollback(tx).await?;
    }
    Ok(standing.iter().map(|stands| stands.then_some(()).ok_or(Error::Conflict)).collect())
}

/// A database that does not even begin is asked no more: each time may be a time-out.
async fn one_by_one<S: Store>(store: &S, bundles: &[Bundle<'_>]) -> Vec<Result<(), Error>> {
    let mut results = Vec::with_capacity(bundles.len());
    for bundle in bundles {
        match store.begin().await {
            Ok(tx) => results.push(alone(store, tx, bundle).await),
            Err(error) => {
                results.resize(bundles.len(), Err(error));
                break;
            }
        }
    }
    results
}

async fn alone<S: Store>(store: &S, tx: S::Tx, bundle: &Bundle<'_>) -> Result<(), Error> {
    let mut results = together(store, tx, core::slice::from_ref(bundle)).await?;
    results.pop().unwrap_or_else(|| unreachable!("a store answers each plan once"))
}

async fn handled<S: Store, H: Handler<S::Tx> + Sync>(
    store: &S,
    mut tx: S::Tx,
    writes: &[Write],
    receipt: &Receipt,
    handler: &H,
    table: Option<Table<'_, S::Tx>>,
) -> Result<(), Error> {
    let bundle = Bundle { writes, content: Content::None };
    let standing = store.write_each(&mut tx, &[bundle]).await?;
    if standing != [true] {
        store.rollback(tx).await?;
        return Err(Error::Conflict);
    }
    if rogue::is(Rogue::EffectApart) {
        store.commit(tx).await?;
        tx = store.begin().await?;
    }
    let applied = apply(store, &mut tx, writes, receipt, handler, table).await;
    if let Err(Error::Handler(error)) = applied {
        store.rollback(tx).await?;
        return Err(Error::Handler(error));
    }
    applied?;
    crash::here(Point::BeforeCommit).await;
    store.commit(tx).await
}

/// The application's part of the work: its table, then its handler.
async fn apply<S: Store, H: Handler<S::Tx> + Sync>(
    store: &S,
    tx: &mut S::Tx,
    writes: &[Write],
    receipt: &Receipt,
    handler: &H,
    table: Option<Table<'_, S::Tx>>,
) -> Result<(), Error> {
    if let Some((keeper, entity)) = table {
        for write in writes {
            let Write::Entity(Put { row, .. }) = write else { continue };
            let kept = Kept { state: row.state, version: row.version };
            keeper.store(tx, &entity, kept).await.map_err(Error::Handler)?;
            store.is_whole(tx).await?;
        }
    }
    for write in writes {
        let Write::Handle { receipt: about, operation } = write else { continue };
        assert_eq!(*about, receipt.id, "a receipt's work runs its own handler");
        let letter = store.letter(tx, receipt.id).await?.ok_or(Error::Conflict)?;
        let event = incoming(receipt, &letter, *operation);
        handler.apply(tx, &event).await.map_err(Error::Handler)?;
        crash::here(Point::AfterEffect).await;
        store.is_whole(tx).await?;
    }
    Ok(())
}

fn incoming<'a>(receipt: &Receipt, letter: &'a Letter, operation: Operation) -> Incoming<'a> {
    let Some(proposal) = receipt.proposal else {
        unreachable!("only a proposal asks for an operation")
    };
    Incoming {
        operation,
        event_type: proposal.event,
        name: &letter.event_type,
        resource: &letter.resource,
        entity: proposal.entity,
        occurrence: proposal.occurrence,
        version: proposal.version,
        delivery: &letter.delivery,
        receipt: receipt.id,
        payload: letter.payload.as_bytes(),
    }
}

fn release<T>(plan: Plan<T>, result: Result<(), Error>) -> Result<T, Error> {
    let ended = outcome(&result);
    let released = plan.commit(|_| ended);
    result.and_then(|()| given_out(released))
}

fn given_out<T>(released: Result<T, plan::Uncommitted>) -> Result<T, Error> {
    released.map_err(|_| unreachable!("what committed is given out"))
}

/// The only place where this crate says of a transaction of its own that it committed.
fn outcome(result: &Result<(), Error>) -> Outcome {
    match result {
        Ok(()) => Outcome::Committed,
        Err(error) => error.outcome(),
    }
}

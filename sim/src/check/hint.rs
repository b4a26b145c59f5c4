//! What a handler did wrong, where its history shows it plainly.

use crate::history::{
    Cause, Fact, HandlerOutcome, Line, NO_KEY, OperationKey, ReceiptNo, Verdict, WorkFault,
};

/// A sentence on the last slip of a handler in a history, for whoever wrote it.
pub(super) fn hint(history: &[Line]) -> Option<String> {
    (0..history.len()).rev().find_map(|at| {
        let (line, rest) = history.get(at..)?.split_first()?;
        let same_time: Vec<&Line> = rest.iter().take_while(|next| next.at == line.at).collect();
        match line.fact {
            Fact::HandlerRan { receipt, outcome: HandlerOutcome::Done } => {
                let applied = same_time.iter().any(|next| is_applied(next, receipt));
                (applied && !same_time.iter().any(|next| is_effect_by(next, receipt))).then(|| {
                    let no = receipt.0;
                    let mut before = history[..at].iter().rev();
                    let called = before
                        .by_ref()
                        .take_while(|before| before.at == line.at)
                        .any(|before| matches!(before.fact, Fact::ExternalCall { .. }));
                    let why = if called {
                        "a call outside is none. Make it within the transaction (tx.effect), and \
                         let the call tell of it"
                    } else {
                        "it skipped it, or passed over an error"
                    };
                    format!(
                        "The handler of receipt {no} returned Ok, and its effect had not been made: \
                         {why}."
                    )
                })
            }
            Fact::ExternalCall { operation, key, did: true } => {
                let former = history[..at].iter().rev().find_map(|before| called(before, operation));
                former.map(|former| {
                    let mistake = match (former, key) {
                        (NO_KEY, _) | (_, NO_KEY) => "without a key",
                        _ => "with another key in each try",
                    };
                    format!(
                        "The handler calls outside {mistake}, and no rollback takes a call back: show \
                         the service event.key(), or declare the rule external and leave the call \
                         to the outbox."
                    )
                })
            }
            Fact::HandlerRan { receipt, outcome: HandlerOutcome::Infrastructure } => {
                rest.iter().any(|next| is_blamed(next, receipt)).then(|| {
                    let no = receipt.0;
                    format!(
                        "The handler of receipt {no} lost its connection, and blamed the event for it."
                    )
                })
            }
            Fact::Effect { operation, by: Cause::Receipt(receipt) } => {
                let no = receipt.0;
                let run = history.get(..at)?.iter().rev().take_while(|before| {
                    let ran = Fact::HandlerRan { receipt, outcome: HandlerOutcome::Done };
                    before.at == line.at && before.fact != ran
                });
                let again = Fact::Effect { operation, by: Cause::Receipt(receipt) };
                if run.into_iter().any(|before| before.fact == again) {
                    return Some(format!(
                        "The handler of receipt {no} made its effect twice in one transaction."
                    ));
                }
                // Where the history breaks off, nobody knows what would have been committed with it.
                let goes_on = same_time.len() < rest.len();
                let marked = same_time.iter().any(|next| is_applied(next, receipt));
                (goes_on && !marked).then(|| {
                    format!(
                        "The effect of receipt {no} was committed, and the transaction that marks the \
                         receipt was not: they were two."
                    )
                })
            }
            _ => None,
        }
    })
}

fn is_applied(line: &Line, receipt: ReceiptNo) -> bool {
    matches!(
        line.fact,
        Fact::Worked { receipt: worked, verdict: Verdict::Applied, .. } if worked == receipt
    )
}

/// The key of an earlier call for this operation through which its effect happened.
fn called(line: &Line, operation: OperationKey) -> Option<u64> {
    match line.fact {
        Fact::ExternalCall { operation: of, key, did: true } => (of == operation).then_some(key),
        _ => None,
    }
}

/// Whether the event is said to be at fault for a failure of its work.
fn is_blamed(line: &Line, receipt: ReceiptNo) -> bool {
    matches!(
        line.fact,
        Fact::WorkFailed { receipt: of, fault: WorkFault::Event, .. } if of == receipt
    )
}

fn is_effect_by(line: &Line, receipt: ReceiptNo) -> bool {
    matches!(line.fact, Fact::Effect { by: Cause::Receipt(by), .. } if by == receipt)
}

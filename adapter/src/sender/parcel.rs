//! What goes out with an attempt: the stored bytes, under an id that never changes, signed when it is sent
//! with the secrets that are live then (S3, S4, S13).

use hookproof_core::{
    Millis,
    instant::Unit,
    outbox::{Delivery, Request, Subject},
    payload::Payload,
    scheme::{Construction, Message, Part, Scheme, Time, Verifier},
    target::Target,
};
use tokio::time::Instant;

use super::{Address, IdScope, Outbox, SenderStore};
use crate::{error::Error, ident::shown, store};

/// What an attempt carries, before it is signed.
#[derive(Clone, Debug)]
pub(super) struct Parcel {
    url: String,
    id: String,
    /// The key that a service outside honours (R14).
    key: Option<String>,
    body: Payload,
    /// `None`: the endpoint never had a secret.
    signer: Option<Verifier>,
}

/// A request that is to be sent now, once: whoever holds it may, and nobody else.
#[derive(Debug)]
pub struct Sending {
    /// The right to settle it.
    pub request: Request,
    /// Where to. Resolve its name, vet every address, dial the one that was vetted (S10).
    pub target: Target,
    /// Its headers, in order.
    pub headers: Vec<(String, String)>,
    /// Its body, byte for byte.
    pub body: Vec<u8>,
    /// When it ends, whatever has come by then (S7).
    pub deadline: Instant,
}

impl<S: SenderStore> Outbox<S> {
    /// What a claimed delivery carries; `None` where its event is not there.
    pub(super) fn pack(
        &self,
        row: &Delivery,
        address: &Address,
        messages: &[store::Message],
    ) -> Result<Option<Parcel>, Error> {
        let (id, key, body) = match row.subject {
            Subject::Event(event) => {
                let Some(message) = messages.iter().find(|message| message.id == event) else {
                    return Ok(None);
                };
                let id = match self.ids {
                    IdScope::Event => event,
                    IdScope::Delivery => row.id,
                };
                (shown(id), None, message.payload.clone())
            }
            Subject::Effect(operation) => {
                let key = operation.key();
                let (entity, transition) = (shown(operation.entity), operation.transition.0);
                let body = format!(
                    "{{\"key\":\"{key}\",\"entity\":\"{entity}\",\"transition\":{transition},\
                     \"occurrence\":{}}}",
                    operation.occurrence
                );
                (key.clone(), Some(key), Payload::Text(body))
            }
        };
        let signer = self.signer(address)?;
        Ok(Some(Parcel { url: address.url.clone(), id, key, body, signer }))
    }

    fn signer(&self, address: &Address) -> Result<Option<Verifier>, Error> {
        if address.secrets.is_empty() {
            return Ok(None);
        }
        let mut signer = Verifier::new(&self.scheme);
        for sealed in &address.secrets {
            let text = self.vault.unseal(sealed.id, &sealed.bytes)?;
            let text = secrecy::ExposeSecret::expose_secret(&text);
            signer.add_within(text, sealed.window).map_err(|bad| {
                Error::unfit("a secret of the sender's scheme", bad, "retire it, and add another")
            })?;
        }
        Ok(Some(signer))
    }

    /// Signs a parcel, and says where it goes; or why it cannot.
    pub(super) fn seal(
        &self,
        parcel: Parcel,
        request: Request,
        now: Millis,
        deadline: Instant,
    ) -> Result<Sending, String> {
        let target = Target::parse(&parcel.url, &self.targets).map_err(|it| it.to_string())?;
        let body = parcel.body.as_bytes().to_vec();
        let content_type = match parcel.body {
            Payload::Text(_) => "application/json",
            Payload::Bytes(_) => "application/octet-stream",
        };
        let mut headers = vec![("content-type".to_owned(), content_type.to_owned())];
        headers.extend(parcel.key.map(|key| ("idempotency-key".to_owned(), key)));
        if let Some(signer) = parcel.signer {
            let timestamp = written(&self.scheme, now);
            let message = Message {
                id: &parcel.id,
                timestamp: &timestamp,
                body: &body,
                method: Some("POST"),
                url: Some(&parcel.url),
                headers: &[],
            };
            let signed = signer.sign(&message, Time::At(now)).map_err(|error| error.to_string())?;
            headers.extend(signed);
        }
        Ok(Sending { request, target, headers, body, deadline })
    }
}

/// The time of an attempt as its scheme writes it; empty where it signs none.
fn written(scheme: &Scheme, now: Millis) -> String {
    let unit = match &scheme.construction {
        Construction::Template(template) if template.signed.contains(&Part::Timestamp) => {
            template.clock.as_ref().map(|(_, unit)| *unit)
        }
        Construction::HttpMessage => Some(Unit::Seconds),
        Construction::Template(_) | Construction::AdyenItems | Construction::Mailgun => None,
    };
    unit.map_or_else(String::new, |unit| Message::written(now, unit))
}

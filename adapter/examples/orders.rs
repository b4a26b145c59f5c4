//! A service that takes orders and hears of its own: both ends of the contract in one process.
//!
//! ```text
//! POST /orders/ID        an order is paid    ┐ enqueues in the transaction that changes the business
//! POST /orders/ID/ship   an order is shipped ┘
//! POST /hooks            what the relay sends: verified, stored, answered, worked on later
//! GET  /ledger           what the handler has booked
//! ```
//!
//! `cargo run --release -p hookproof --example orders` and, beside it, `curl -X POST localhost:8080/orders/1`.
//!
//! It speaks no TLS, so it sends nothing to an `https` URL. A service takes a client that does, such as reqwest
//! with rustls.
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "it speaks to whoever tries it")]

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode},
    routing::{get, post},
};
use futures_util::future::{Either, join_all, select};
use hookproof::{
    Clock, Durability, EVERY_TYPE, EntityType, Inbox, Message, NewEndpoint, Outbox, Sending, Setup,
    Source, SqliteStore, Vault, Worker, blame, ident, outbox,
};
use hookproof_core::{
    address::Network,
    answer::{Answer, ended, retry_after},
    handler::{Handler, HandlerError, Incoming},
    model::{
        Early, EventType, Kind, Model, Occurrence, Order, Rule, State as At, States, Transition,
    },
    payload::Payload,
    scheme::{Request, Window},
    target::TargetPolicy,
};
use http_body_util::BodyExt as _;
use hyper_util::rt::TokioIo;
use sqlx::{Sqlite, Transaction};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};

type AnyError = Box<dyn std::error::Error + Send + Sync>;
type Tx = Transaction<'static, Sqlite>;

/// The effect of an event: a line in the ledger, in the transaction that marks its receipt.
struct Ledger;

impl Handler<Tx> for Ledger {
    async fn apply(&self, tx: &mut Tx, event: &Incoming<'_>) -> Result<(), HandlerError> {
        let line = format!("{} {}", event.resource, event.name);
        let insert = sqlx::query("INSERT INTO ledger (line) VALUES (?)").bind(line);
        insert.execute(&mut **tx).await.map_err(|error| blame(&error))?;
        Ok(())
    }
}

/// An order is paid, then shipped; each is booked once, in this order, however the events arrive.
fn order() -> EntityType<Tx> {
    let rule = |event, from, to| Rule {
        event: EventType(event),
        from: States::of(&[At(from)]),
        to: At(to),
        books: Some((Transition(event), Occurrence::Once)),
        external: false,
    };
    let rules = vec![rule(1, 0, 1), rule(2, 1, 2)];
    let model = Model::declare(3, Kind::Latest, Order::Graph, Early::Wait, rules);
    EntityType::new("order", model.expect("a chain converges"))
        .on("order.paid", EventType(1), Ledger)
        .on("order.shipped", EventType(2), Ledger)
        .resource_at("/data/order")
}

/// Both ends.
struct Shop {
    outbox: Outbox<SqliteStore>,
    inbox: Arc<Inbox<SqliteStore>>,
}

impl Shop {
    /// Opens the database, and registers this very service as an endpoint of its own.
    async fn open(database: &std::path::Path, own: SocketAddr) -> Result<Self, AnyError> {
        SqliteStore::migrate(database).await?;
        let store = SqliteStore::open(database, Durability::Required, Clock::database()).await?;
        let tables =
            "CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, stands TEXT NOT NULL);
             CREATE TABLE IF NOT EXISTS ledger (line TEXT NOT NULL)";
        sqlx::raw_sql(tables).execute(store.pool()).await?;

        let loopback = Network::parse("127.0.0.0/8").expect("a network");
        let targets = TargetPolicy { http: true, networks: vec![loopback], ports: vec![] };
        let outbox = Outbox::new(store.clone(), Vault::from_environment()?).targets(targets);
        outbox.check_key().await?;
        let registered = "SELECT EXISTS (SELECT 1 FROM hookproof_endpoints)";
        if !sqlx::query_scalar(registered).fetch_one(store.pool()).await? {
            let endpoint = NewEndpoint {
                account: String::new(),
                url: format!("http://{own}/hooks"),
                event_types: vec![EVERY_TYPE.to_owned()],
                secret: Some(SECRET.into()),
            };
            outbox.register(&endpoint).await?;
        }
        let source = Source::preset("shop", "standard-webhooks")?;
        let source = source.secret("first", SECRET, Window::always())?;
        let inbox = Setup::new(store).source(source).entity(order()).open()?;
        Ok(Self { outbox, inbox: Arc::new(inbox) })
    }

    /// Changes the business and publishes that it did, in one transaction: both or neither. What is shipped
    /// stays so.
    async fn moves(&self, order: &str, stands: &str) -> Result<(), AnyError> {
        let event_type = format!("order.{stands}");
        let body = format!("{{\"type\":\"{event_type}\",\"data\":{{\"order\":\"{order}\"}}}}");
        let mut tx = self.outbox.store().pool().begin_with("BEGIN IMMEDIATE").await?;
        let upsert = "INSERT INTO orders (id, stands) VALUES (?1, ?2)
             ON CONFLICT (id) DO UPDATE SET stands = ?2 WHERE stands = 'paid'";
        sqlx::query(upsert).bind(order).bind(stands).execute(&mut *tx).await?;
        let message = Message {
            id: ident::named(&[order, &event_type]),
            account: String::new(),
            aggregate_type: "order".to_owned(),
            aggregate_id: order.to_owned(),
            event_type,
            payload: Payload::of(body.into_bytes()),
        };
        outbox::enqueue(&mut tx, &message).await?;
        tx.commit().await?;
        self.outbox.bell().ring();
        Ok(())
    }

    /// The relay, until it is told to stop: every decision is the library's, and this dials and waits.
    async fn relay(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            if let Err(error) = self.relay_once().await {
                eprintln!("the relay waits: {error}");
            }
            tokio::select! {
                _ = stop.changed() => {}
                () = self.outbox.bell().wait(POLL) => {}
            }
        }
    }

    async fn relay_once(&self) -> Result<(), AnyError> {
        self.outbox.fan_out(100).await?;
        loop {
            let claimed = self.outbox.claim(16).await?;
            if claimed.is_empty() {
                self.outbox.sweep().await?;
                return Ok(());
            }
            let sends = claimed.into_iter().map(|claimed| async {
                if let Some(sending) = self.outbox.start(claimed).await {
                    let (answer, retry_after_s) = self.send(&sending).await;
                    self.outbox.settle(sending.request, ended(answer, retry_after_s)).await;
                }
            });
            join_all(sends).await;
        }
    }

    /// One request, within its one deadline. What does not end in a whole answer is no answer: whether the
    /// receiver acted is unknown.
    async fn send(&self, sending: &Sending) -> (Answer, Option<u64>) {
        let sent = tokio::time::timeout_at(sending.deadline, self.request(sending)).await;
        let why = match sent {
            Ok(Ok((status, waits))) => return (Answer::Status(status), waits),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it took too long".to_owned(),
        };
        eprintln!("no answer from {}: {why}", sending.target.host());
        (Answer::NoAnswer, None)
    }

    async fn request(&self, sending: &Sending) -> Result<(u16, Option<u64>), AnyError> {
        let target = &sending.target;
        let url: hyper::Uri = target.url().parse()?;
        if url.scheme_str() != Some("http") {
            return Err(
                "nothing was sent: this example speaks no TLS, and the URL is not `http`".into()
            );
        }
        // The name is resolved here, every address is vetted, and what was vetted is dialled.
        let found = tokio::net::lookup_host((target.host(), target.port())).await;
        let addresses: Vec<_> = found?.map(|address| address.ip()).collect();
        let dial = target.vet(&addresses, self.outbox.target_policy())?;
        let stream = TcpStream::connect((dial.address(), dial.port())).await?;
        let (mut client, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let path = url.path_and_query().map_or("/", |path| path.as_str());
        let host = format!("{}:{}", target.host(), target.port());
        let mut request = hyper::Request::post(path).header("host", host);
        for (name, value) in &sending.headers {
            request = request.header(name, value);
        }
        let body = http_body_util::Full::new(Bytes::copy_from_slice(&sending.body));
        let answered = pin!(whole(client.send_request(request.body(body)?)));
        match select(answered, pin!(connection)).await {
            Either::Left((answered, _)) => answered,
            Either::Right((_, answered)) => answered.await,
        }
    }
}

/// An answer's status and the wait that it asks for, once its body has come to its end, or is longer than
/// anybody reads.
async fn whole(
    answer: impl Future<Output = hyper::Result<hyper::Response<hyper::body::Incoming>>>,
) -> Result<(u16, Option<u64>), AnyError> {
    let (head, mut body) = answer.await?.into_parts();
    let mut left = BODY_BYTES_MAX;
    while let Some(frame) = body.frame().await {
        let bytes = frame?.data_ref().map_or(0, Bytes::len);
        let Some(fewer) = left.checked_sub(bytes) else { break };
        left = fewer;
    }
    let waits = head.headers.get_all("retry-after");
    let waits = retry_after(waits.iter().map(HeaderValue::as_bytes), now_s(), DAY_S);
    Ok((head.status.as_u16(), waits))
}

async fn paid(State(shop): State<Arc<Shop>>, Path(id): Path<String>) -> StatusCode {
    answered(shop.moves(&id, "paid").await)
}

async fn shipped(State(shop): State<Arc<Shop>>, Path(id): Path<String>) -> StatusCode {
    answered(shop.moves(&id, "shipped").await)
}

fn answered(moved: Result<(), AnyError>) -> StatusCode {
    match moved {
        Ok(()) => StatusCode::ACCEPTED,
        Err(error) => {
            eprintln!("an order did not move: {error}");
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

/// Everything that the library needs of a request: each header line, and the bytes as they came.
async fn hooks(
    State(shop): State<Arc<Shop>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let headers: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let request = Request { headers: &headers, body: &body, ..Request::default() };
    let answer = shop.inbox.answer("shop", &request).await;
    let status = StatusCode::from_u16(answer.status);
    (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), answer.body)
}

async fn ledger(State(shop): State<Arc<Shop>>) -> Result<String, StatusCode> {
    let lines: Result<Vec<String>, _> = sqlx::query_scalar("SELECT line || char(10) FROM ledger")
        .fetch_all(shop.outbox.store().pool())
        .await;
    lines.map(|lines| lines.concat()).map_err(|_| StatusCode::SERVICE_UNAVAILABLE)
}

/// Serves until it is told to stop, and ends what it has begun.
pub(crate) async fn serve(
    database: &std::path::Path,
    listener: TcpListener,
    stop: watch::Receiver<bool>,
) -> Result<(), AnyError> {
    let shop = Arc::new(Shop::open(database, listener.local_addr()?).await?);
    let routes = Router::new()
        .route("/orders/{id}", post(paid))
        .route("/orders/{id}/ship", post(shipped))
        .route("/hooks", post(hooks))
        .route("/ledger", get(ledger))
        .with_state(Arc::clone(&shop));
    let until = |mut stop: watch::Receiver<bool>| async move {
        let _ = stop.wait_for(|stop| *stop).await;
    };
    let worker = Worker::new(Arc::clone(&shop.inbox)).at_once(1);
    let served = axum::serve(listener, routes).with_graceful_shutdown(until(stop.clone()));
    let (served, (), ()) =
        tokio::join!(served.into_future(), worker.run(until(stop.clone())), shop.relay(stop));
    Ok(served?)
}

fn now_s() -> i64 {
    (hookproof::Host::now(&hookproof::Machine).0 / 1_000).cast_signed()
}

/// For this example alone: both ends are here. `hookproof::new_secret` makes real ones.
const SECRET: &str = "whsec_ZXhhbXBsZS1leGFtcGxlLWV4YW1wbGUtZXhhbXBsZSE=";
const POLL: Duration = Duration::from_secs(1);
const DAY_S: u64 = 86_400;
const BODY_BYTES_MAX: usize = 65_536;

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let mut arguments = std::env::args().skip(1);
    let database = arguments.next().unwrap_or_else(|| "orders.db".to_owned());
    let listener = TcpListener::bind(("127.0.0.1", 8080)).await?;
    println!("orders on http://{}, kept in {database}", listener.local_addr()?);
    let (tell, stop) = watch::channel(false);
    tokio::spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        tell.send(true)
    });
    serve(database.as_ref(), listener, stop).await
}

//! The examples of the README, as they are printed there: they run, and do what they say.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{net::SocketAddr, path::Path, process::Command, time::Duration};

use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

#[path = "../examples/orders.rs"]
#[expect(dead_code, reason = "its main is for people")]
mod orders;

async fn ask(at: SocketAddr, method: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(at).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: shop\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Waits until the service's ledger says so.
async fn ledger_says(at: SocketAddr, lines: &[&str]) {
    let wanted: Vec<String> = lines.iter().map(|line| [line, "\n"].concat()).collect();
    let wanted = wanted.concat();
    while !ask(at, "GET", "/ledger").await.ends_with(&format!("\r\n\r\n{wanted}")) {
        tokio::task::yield_now().await;
    }
}

async fn connect(database: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(database);
    SqliteConnection::connect_with(&options).await.unwrap()
}

/// Waits until the inbox has so many receipts of this status.
async fn receipts(database: &Path, status: &str, count: i64) {
    let mut connection = connect(database).await;
    let sql = "SELECT count(*) FROM webhook_inbox WHERE status = $1";
    while count != sqlx::query_scalar(sql).bind(status).fetch_one(&mut connection).await.unwrap() {
        tokio::task::yield_now().await;
    }
}

/// Waits until this many deliveries were tried and wait for their next attempt.
async fn retried(database: &Path, count: i64) {
    let mut connection = connect(database).await;
    let sql = "SELECT count(*) FROM hookproof_deliveries WHERE stand = 'pending' AND attempt = 1 AND rung = 1";
    while count != sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_are_booked_in_their_order_once_whoever_publishes() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("orders.db");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (tell, stop) = watch::channel(false);
    let path = database.clone();
    let service = tokio::spawn(async move { orders::serve(&path, listener, stop).await });

    assert!(ask(at, "POST", "/orders/1/ship").await.starts_with("HTTP/1.1 202"));
    receipts(&database, "DEFERRED", 1).await;
    ledger_says(at, &[]).await;
    ask(at, "POST", "/orders/1").await;
    ledger_says(at, &["1 order.paid", "1 order.shipped"]).await;
    ask(at, "POST", "/orders/1").await;
    assert!(ask(at, "POST", "/hooks").await.starts_with("HTTP/1.1 401"), "nobody signed it");

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/enqueue.py");
    let python = |stands: &str| {
        let arguments = [script.as_os_str(), database.as_os_str(), "2".as_ref(), stands.as_ref()];
        let status = Command::new("python3").args(arguments).status();
        assert!(status.expect("expected python3 to be installed").success());
    };
    python("paid");
    python("shipped");
    let all = ["1 order.paid", "1 order.shipped", "2 order.paid", "2 order.shipped"];
    ledger_says(at, &all).await;
    receipts(&database, "PROCESSED", 4).await;

    tell.send(true).unwrap();
    service.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_cut_off_or_needs_tls_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("orders.db");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (tell, stop) = watch::channel(false);
    let path = database.clone();
    let service = tokio::spawn(async move { orders::serve(&path, listener, stop).await });
    ask(at, "GET", "/ledger").await;

    let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let other = receiver.local_addr().unwrap();
    let leads_to = async |scheme: &str| {
        let sql = "UPDATE hookproof_endpoints SET url = $1";
        let url = format!("{scheme}://{other}/hooks");
        sqlx::query(sql).bind(url).execute(&mut connect(&database).await).await.unwrap();
    };
    leads_to("http").await;
    ask(at, "POST", "/orders/1/ship").await;
    let (mut cut, _) = receiver.accept().await.unwrap();
    let mut request = [0; 4096];
    assert_ne!(cut.read(&mut request).await.unwrap(), 0);
    cut.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await.unwrap();
    drop(cut);
    retried(&database, 1).await;

    leads_to("https").await;
    ask(at, "POST", "/orders/1").await;
    retried(&database, 2).await;
    let called = tokio::time::timeout(Duration::ZERO, receiver.accept()).await;
    assert!(called.is_err(), "nothing is sent in the clear");
    let stands = sqlx::query_scalar("SELECT stands FROM orders");
    let stands: String = stands.fetch_one(&mut connect(&database).await).await.unwrap();
    assert_eq!(stands, "shipped", "an order does not go back");

    tell.send(true).unwrap();
    service.await.unwrap().unwrap();
}

#[test]
fn the_script_refuses_what_the_service_would_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/enqueue.py");
    for stands in ["paid", "paied"] {
        let database = folder.path().join("missing.db");
        let arguments = [script.as_os_str(), database.as_os_str(), "2".as_ref(), stands.as_ref()];
        let output = Command::new("python3").args(arguments).output();
        let output = output.expect("expected python3 to be installed");
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
        assert!(!database.exists());
    }
}

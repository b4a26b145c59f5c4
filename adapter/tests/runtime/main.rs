//! The library as an application embeds it: what is received, worked on, sent and kept, on SQLite and on
//! PostgreSQL.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are tests: what fails there fails the suite"
)]

/// Runs each of these on both databases.
macro_rules! on_each_store {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let bed = $crate::bed::sqlite().await;
                super::$test(bed).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let bed = $crate::bed::postgres().await;
                super::$test(bed).await;
            })+
        }
    };
}

mod bed;
mod crash;
mod endpoints;
mod keep;
mod post;
mod receive;
mod send;
mod shop;
mod upkeep;
mod work;

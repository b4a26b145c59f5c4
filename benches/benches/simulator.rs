//! Lines a second of the walk, oracle on, and transitions a second of the explorer.
#![allow(missing_docs, reason = "criterion's macros make public functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hookproof_sim::{
    explore::{Limits, default_worlds, explore},
    oracle::Oracle,
    swarm,
    walk::walk,
};

fn walks(criterion: &mut Criterion) {
    let setups: Vec<_> = (0..200).map(swarm::draw).collect();
    let mut lines = Vec::new();
    let mut all = || {
        setups.iter().fold(0, |sum, setup| {
            let mut oracle = Oracle::new(&setup.terms);
            walk(setup, None, &mut oracle, &mut lines);
            sum + lines.len()
        })
    };
    let total = all();
    let mut group = criterion.benchmark_group("walk");
    group.throughput(Throughput::Elements(total as u64)).sample_size(20);
    group.bench_function("200 histories, lines", |bench| bench.iter(&mut all));
    group.finish();
}

fn explorer(criterion: &mut Criterion) {
    let worlds = default_worlds();
    let world = worlds.last().expect("a small world");
    let limits = Limits::default();
    let explored = explore(world, None, limits, 2, &|_| {});
    let mut group = criterion.benchmark_group("explore");
    group.throughput(Throughput::Elements(explored.transitions)).sample_size(10);
    group.bench_function("two endpoints, transitions on two threads", |bench| {
        bench.iter(|| explore(world, None, limits, 2, &|_| {}));
    });
    group.finish();
}

criterion_group!(simulator, walks, explorer);
criterion_main!(simulator);

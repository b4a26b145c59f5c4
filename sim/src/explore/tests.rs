#[test]
fn sizes() {
    eprintln!(
        "{} {} {} {} {}",
        size_of::<super::State>(),
        size_of::<crate::world::Task>(),
        size_of::<crate::world::db::Db>(),
        size_of::<crate::oracle::Oracle>(),
        size_of::<hookproof_core::inbox::Receipt>()
    );
}

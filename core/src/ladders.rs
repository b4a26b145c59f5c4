//! The ladders that providers publish.

//! Quantiles and probabilities that `statrs` lacks.

pub mod assurance;
pub mod fisher;
pub mod gamma;
pub mod noncentral;
pub mod student;

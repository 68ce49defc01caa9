//! Quantiles and chances that no library gives, or gives as they are needed here.

pub mod assurance;
pub mod beta;
pub mod gamma;
pub mod noncentral;
pub mod student;

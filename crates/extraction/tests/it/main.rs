//! Whole papers, as people of several countries write them.

mod invoices;
mod kinds;
mod odd;

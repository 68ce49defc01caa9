//! Drives Postgres, and whatever speaks its protocol, over a thin blocking client.

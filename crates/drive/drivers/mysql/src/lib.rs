//! Drives MySQL and MariaDB, and whatever speaks their protocol, over a thin blocking client.

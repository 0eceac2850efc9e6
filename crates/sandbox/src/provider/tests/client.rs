//! A raw TCP client that sees every byte.

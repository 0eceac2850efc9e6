//! Where orders are stored, printed without the password.

use std::fmt;
use std::path::PathBuf;

use adapters::store::OpenError;
use adapters::store::postgres::{PostgresStore, PostgresTransport};
use url::Url;

use crate::config::fault::SettingProblem;
use crate::config::values::ReportText;
use crate::config::values::secret::Secret;

const REMEDY: &str = "Write the path of an SQLite file, or postgres://user@host:5432/database.";
const TLS_REMEDY: &str = "Write postgres://user@host:5432/database?sslmode=verify-full, with \
     &sslrootcert=FILE if the server's certificate is from your own authority.";

#[derive(Debug)]
pub(crate) enum StoreLocation {
    Sqlite(PathBuf),
    Postgres(PostgresLocation),
}

/// A PostgreSQL URL, complete for connecting and redacted for printing.
#[derive(Debug)]
pub(crate) struct PostgresLocation {
    pub connection: Secret,
    redacted: String,
    transport: PostgresTransport,
}

impl StoreLocation {
    /// No error repeats `text`: a mistyped URL may have a password anywhere.
    pub(crate) fn parse(text: &str, password: Option<&Secret>) -> Result<Self, SettingProblem> {
        if text.contains("://") || text.starts_with("postgres") && text.contains(':') {
            return PostgresLocation::parse(text, password).map(StoreLocation::Postgres);
        }
        let path = PathBuf::from(text);
        if text.is_empty() || path.is_dir() {
            return Err(SettingProblem::new("is not the path of a file", REMEDY));
        }
        if password.is_some() {
            return Err(SettingProblem::new(
                "is an SQLite file, which has no password",
                "Remove server.store_password_file, or use a PostgreSQL store.",
            ));
        }
        Ok(StoreLocation::Sqlite(path))
    }

    /// The kind of store, for the banner.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            StoreLocation::Sqlite(_) => "SQLite",
            StoreLocation::Postgres(_) => "PostgreSQL",
        }
    }

    /// A warning if orders and the password cross a network in clear text.
    pub(crate) fn warning(&self) -> Option<String> {
        match self {
            StoreLocation::Sqlite(_) => None,
            StoreLocation::Postgres(location) => match &location.transport {
                PostgresTransport::Local | PostgresTransport::Encrypted => None,
                PostgresTransport::ClearText(host) => Some(format!(
                    "The connection to PostgreSQL at {host} is not encrypted: orders and the \
                     password cross the network in clear text. Add sslmode=verify-full to \
                     server.store."
                )),
            },
        }
    }
}

impl PostgresLocation {
    fn parse(text: &str, password: Option<&Secret>) -> Result<Self, SettingProblem> {
        let mut url = Url::parse(text).map_err(|error| {
            SettingProblem::new(format!("is not the URL of a store: {error}"), REMEDY)
        })?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(SettingProblem::new("is neither a path nor a postgres:// URL", REMEDY));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(SettingProblem::new("has no host", REMEDY));
        }
        let hidden_in_query = url.query_pairs().any(|(name, _)| name == "password");
        if hidden_in_query || (password.is_some() && url.password().is_some()) {
            return Err(SettingProblem::new(
                "has more than one password, or one in the query",
                "Set the password once: before the @, or with server.store_password_file.",
            ));
        }
        if let Some(password) = password {
            url.set_password(Some(password.reveal()))
                .map_err(|()| SettingProblem::new("cannot have a password", REMEDY))?;
        }
        let connection = Secret::new(url.to_string());
        let transport =
            PostgresStore::transport(connection.reveal()).map_err(|error| problem(&error))?;
        Ok(Self { connection, redacted: without_password(url), transport })
    }
}

/// The texts of these errors do not repeat the URL.
fn problem(error: &OpenError) -> SettingProblem {
    SettingProblem::new(error.to_string(), TLS_REMEDY)
}

/// Scheme, user, host and database. The query is removed too, because drivers read secrets
/// from it.
fn without_password(mut url: Url) -> String {
    url.set_password(None).expect("a URL with a host has settable userinfo");
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreLocation::Sqlite(path) => write!(f, "{}", path.display()),
            StoreLocation::Postgres(location) => f.write_str(&location.redacted),
        }
    }
}

impl ReportText for StoreLocation {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postgres(text: &str, password: Option<&str>) -> PostgresLocation {
        let password = password.map(|text| Secret::new(text.to_owned()));
        PostgresLocation::parse(text, password.as_ref()).unwrap()
    }

    #[test]
    fn the_connection_has_the_password_and_the_redacted_form_has_not() {
        let location =
            postgres("postgres://clerk:sesame@db.example:5433/orders?sslmode=disable", None);
        let whole = "postgres://clerk:sesame@db.example:5433/orders?sslmode=disable";
        assert_eq!(location.connection.reveal(), whole);
        assert_eq!(location.redacted, "postgres://clerk@db.example:5433/orders");
    }

    #[test]
    fn a_network_without_tls_is_warned_about_and_a_mode_without_a_check_is_refused() {
        let warning = |text: &str| StoreLocation::parse(text, None).unwrap().warning();
        for quiet in [
            "orders.sqlite3",
            "postgres://clerk@localhost/orders",
            "postgres://clerk@db.example/orders?sslmode=verify-full",
        ] {
            assert_eq!(warning(quiet), None);
        }
        for loud in ["", "?sslmode=disable"] {
            let warning = warning(&format!("postgres://clerk:sesame@db.example/orders{loud}"));
            let warning = warning.expect("clear text is never silent");
            assert!(warning.contains("db.example") && !warning.contains("sesame"), "{warning}");
        }
        let refused = "postgres://clerk:sesame@db.example/orders?sslmode=require";
        let refused = StoreLocation::parse(refused, None).unwrap_err();
        assert!(refused.message.contains("do not check"), "{refused:?}");
        assert!(refused.remedy.contains("verify-full"), "{refused:?}");
    }

    #[test]
    fn a_password_from_a_file_is_added_to_the_url() {
        let location = postgres("postgresql://clerk@db.example/orders", Some("ses@me"));
        let whole = "postgresql://clerk:ses%40me@db.example/orders";
        assert_eq!(location.connection.reveal(), whole);
        assert_eq!(location.redacted, "postgresql://clerk@db.example/orders");
    }

    #[test]
    fn a_path_is_an_sqlite_file() {
        for path in ["orders.sqlite3", "/srv/postgres/orders", "./a b/c"] {
            let location = StoreLocation::parse(path, None).unwrap();
            assert!(matches!(&location, StoreLocation::Sqlite(file) if file.as_os_str() == path));
            assert_eq!(location.to_string(), path);
        }
    }
}

//! Where orders are kept, said without the password.

use std::fmt;
use std::path::PathBuf;

use url::Url;

use crate::config::fault::Wrong;
use crate::config::secret::Secret;
use crate::config::values::Shown;

const REMEDY: &str = "Write the path of an SQLite file, or postgres://user@host:5432/database.";

#[derive(Debug)]
pub(crate) enum StorePlace {
    Sqlite(PathBuf),
    Postgres(PostgresPlace),
}

/// A PostgreSQL address in two forms: one that opens it, one that may be seen.
#[derive(Debug)]
pub(crate) struct PostgresPlace {
    pub connection: Secret,
    shown: String,
}

impl StorePlace {
    /// Nothing of `text` is repeated in a fault: a mistyped address may have a
    /// password anywhere.
    pub(crate) fn parse(text: &str, password: Option<&Secret>) -> Result<Self, Wrong> {
        if text.contains("://") || text.starts_with("postgres") && text.contains(':') {
            return PostgresPlace::parse(text, password).map(StorePlace::Postgres);
        }
        let path = PathBuf::from(text);
        if text.is_empty() || path.is_dir() {
            return Err(Wrong::new("does not name a file", REMEDY));
        }
        if password.is_some() {
            return Err(Wrong::new(
                "is an SQLite file, yet a password file is named",
                "Take server.store_password_file out, or name a PostgreSQL store.",
            ));
        }
        Ok(StorePlace::Sqlite(path))
    }

    /// The kind of store, for the banner.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            StorePlace::Sqlite(_) => "SQLite",
            StorePlace::Postgres(_) => "PostgreSQL",
        }
    }
}

impl PostgresPlace {
    fn parse(text: &str, password: Option<&Secret>) -> Result<Self, Wrong> {
        let mut url = Url::parse(text)
            .map_err(|error| Wrong::new(format!("is no address of a store: {error}"), REMEDY))?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(Wrong::new("is neither a path nor a postgres:// address", REMEDY));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(Wrong::new("names no host", REMEDY));
        }
        let hidden_in_query = url.query_pairs().any(|(name, _)| name == "password");
        if hidden_in_query || (password.is_some() && url.password().is_some()) {
            return Err(Wrong::new(
                "has a password where none belongs",
                "Give the password once: before the @, or by server.store_password_file.",
            ));
        }
        if let Some(password) = password {
            url.set_password(Some(password.reveal()))
                .map_err(|()| Wrong::new("can take no password", REMEDY))?;
        }
        Ok(Self { connection: Secret::new(url.to_string()), shown: without_password(url) })
    }
}

/// Scheme, user, host and database. The query is left out too, as drivers read
/// more than one secret from it.
fn without_password(mut url: Url) -> String {
    url.set_password(None).expect("an address with a host can lose its password");
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorePlace::Sqlite(path) => write!(f, "{}", path.display()),
            StorePlace::Postgres(place) => f.write_str(&place.shown),
        }
    }
}

impl Shown for StorePlace {
    fn shown(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postgres(text: &str, password: Option<&str>) -> PostgresPlace {
        let password = password.map(|words| Secret::new(words.to_owned()));
        PostgresPlace::parse(text, password.as_ref()).unwrap()
    }

    #[test]
    fn what_opens_a_store_has_the_password_and_what_is_shown_has_not() {
        let place =
            postgres("postgres://clerk:sesame@db.example:5433/orders?sslmode=require", None);
        let whole = "postgres://clerk:sesame@db.example:5433/orders?sslmode=require";
        assert_eq!(place.connection.reveal(), whole);
        assert_eq!(place.shown, "postgres://clerk@db.example:5433/orders");
    }

    #[test]
    fn a_password_from_a_file_is_put_into_the_address() {
        let place = postgres("postgresql://clerk@db.example/orders", Some("ses@me"));
        let whole = "postgresql://clerk:ses%40me@db.example/orders";
        assert_eq!(place.connection.reveal(), whole);
        assert_eq!(place.shown, "postgresql://clerk@db.example/orders");
    }

    #[test]
    fn a_path_is_an_sqlite_file() {
        for path in ["orders.sqlite3", "/srv/postgres/orders", "./a b/c"] {
            let place = StorePlace::parse(path, None).unwrap();
            assert!(matches!(&place, StorePlace::Sqlite(file) if file.as_os_str() == path));
            assert_eq!(place.to_string(), path);
        }
    }
}

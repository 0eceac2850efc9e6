//! Reads every section; all faults are recorded before an error is returned.

use std::path::{Path, PathBuf};
use std::time::Duration;

use adapters::keys::Keyring;

use crate::config::fault::SettingProblem;
use crate::config::logging::{LogFormat, LogLevels};
use crate::config::payments::gas;
use crate::config::reader::{FaultRecorded, SettingsReader};
use crate::config::secret_file::SecretFile;
use crate::config::store_location::StoreLocation;
use crate::config::values::secret::Secret;
use crate::config::values::vat_rate::VatRate;
use crate::config::values::{self, BaseUrl, ParentName, SANDBOX_PAYEE, ServerMode};
use crate::config::{
    AgentsConfig, Config, ContentConfig, KeysConfig, LimitsConfig, LogConfig, McpConfig,
    SellersConfig, ServerConfig, ShopConfig,
};
use crate::config::{names, payments, provider, settings};

mod combinations;
mod operator;

pub(super) fn read(reader: &mut SettingsReader) -> Result<Config, FaultRecorded> {
    // The mode comes first: it decides which defaults are allowed.
    let mode = reader.take(&settings::MODE, ServerMode::parse);
    if let Ok(mode) = mode {
        reader.set_mode(mode);
    }
    let listen = reader.take(&settings::LISTEN, values::listen);
    let base_url = reader.take_optional(&settings::BASE_URL, BaseUrl::parse);
    let data = reader.take(&settings::DATA, values::folder_to_create);
    let store = store(reader, data.as_deref().ok());
    let operator = operator::read(reader, mode);
    let vat = reader.take(&settings::REPORT_VAT_PERCENT, VatRate::parse);
    let keys = keys(reader, mode, data.as_deref().ok());
    let limits = limits(reader);
    let sellers = sellers(reader);
    let names = names::read(reader);
    let provider = provider::read(reader);
    let payments = payments::read(reader);
    let base_url = combinations::secure_base_url(reader, base_url, mode, &payments);
    let names = combinations::mainnet_eoa_has_nodes(reader, names, &payments);
    let realm = payments::realm(reader);
    let gas = gas::read(reader);
    let sandbox = combinations::sandbox(reader, &names, &provider, &payments);
    let shop = shop(reader);
    let anonymous = reader.take(&settings::AGENTS_ANONYMOUS, values::yes_or_no);
    let profile = reader.take(&settings::MCP_PROFILE, values::profile);
    let log = log(reader);
    let folder = reader.take_optional(&settings::CONTENT_FOLDER, values::existing_folder);
    // Only `pennyblack report` uses it, which reads it also if other settings are invalid.
    vat?;
    Ok(Config {
        server: ServerConfig {
            listen: listen?,
            base_url: base_url?,
            data: data?,
            mode: mode?,
            store: store?,
        },
        operator: operator?,
        keys: keys?,
        limits: limits?,
        sellers: sellers?,
        names: names?,
        provider: provider?,
        payments: payments?,
        realm: realm?,
        gas: gas?,
        sandbox: sandbox?,
        shop: shop?,
        agents: AgentsConfig { anonymous: anonymous? },
        mcp: McpConfig { profile: profile? },
        log: log?,
        content: ContentConfig { folder: folder? },
    })
}

fn store(reader: &mut SettingsReader, data: Option<&Path>) -> Result<StoreLocation, FaultRecorded> {
    let password = reader.take_optional(&settings::STORE_PASSWORD_FILE, |path| {
        SecretFile::read(path, |text| Ok(Secret::new(text.to_owned())))
    });
    let secret = password.as_ref().ok().and_then(Option::as_ref).map(|file| &file.secret);
    let default = in_folder(data, "pennyblack.sqlite3");
    let store =
        reader.take_or(&settings::STORE, &default, |text| StoreLocation::parse(text, secret));
    password.and(store)
}

fn keys(
    reader: &mut SettingsReader,
    mode: Result<ServerMode, FaultRecorded>,
    data: Option<&Path>,
) -> Result<KeysConfig, FaultRecorded> {
    let secret = reader.take_optional(&settings::KEYS_SECRET, keys_in_environment);
    let default = in_folder(data, "pennyblack.key");
    let file = reader.take_or(&settings::KEYS_FILE, &default, |text| Ok(PathBuf::from(text)))?;
    let problem = match (secret?, mode?) {
        (Some(_), _) if reader.is_set(&settings::KEYS_FILE) => {
            SettingProblem::new("is set, and PENNYBLACK_KEYS too", "Set only one of them.")
        }
        (Some(secret), _) => return Ok(KeysConfig::Environment(secret)),
        (None, ServerMode::Sandbox) => return Ok(KeysConfig::File(file)),
        (None, ServerMode::Live) if !reader.is_set(&settings::KEYS_FILE) => SettingProblem::new(
            "is not set; live mode does not create a key",
            "Set the path of the key file, or PENNYBLACK_KEYS.",
        ),
        (None, ServerMode::Live) if file.is_file() => return Ok(KeysConfig::File(file)),
        (None, ServerMode::Live) => SettingProblem::new(
            format!("the file `{}` does not exist", file.display()),
            "Create it with `openssl rand -hex 32`, readable by this service only.",
        ),
    };
    Err(reader.record_fault(&settings::KEYS_FILE, problem))
}

fn limits(reader: &mut SettingsReader) -> Result<LimitsConfig, FaultRecorded> {
    let discovery_quota = reader
        .take(&settings::DISCOVERY_QUOTA, |text| values::number::<u32>(text, 1..=u32::MAX.into()));
    let request = reader.take(&settings::REQUEST_SECONDS, seconds);
    let mut paid_request = reader.take(&settings::PAID_REQUEST_SECONDS, seconds);
    if let (Ok(request), Ok(paid)) = (&request, &paid_request)
        && paid < request
    {
        let problem = SettingProblem::new(
            format!("{paid} is less than limits.request_seconds, which is {request}"),
            "Set at least limits.request_seconds.",
        );
        paid_request = Err(reader.record_fault(&settings::PAID_REQUEST_SECONDS, problem));
    }
    // A postcard with the longest message fits in the smallest allowed limit.
    let body_bytes = reader
        .take(&settings::BODY_BYTES, |text| values::number::<usize>(text, 16_384..=1_048_576));
    let connections =
        reader.take(&settings::CONNECTIONS, |text| values::number::<u32>(text, 1..=1_000_000));
    let provider_calls = reader.take(&settings::PROVIDER_RATE_TIMES, values::times);
    Ok(LimitsConfig {
        discovery_quota: discovery_quota?,
        request: Duration::from_secs(request?),
        paid_request: Duration::from_secs(paid_request?),
        body_bytes: body_bytes?,
        connections: connections?,
        provider_calls: provider_calls?,
    })
}

fn sellers(reader: &mut SettingsReader) -> Result<SellersConfig, FaultRecorded> {
    let mut default = reader.take(&settings::SELLER_DEFAULT, values::username);
    let enabled = reader.take(&settings::SELLERS_ENABLED, |text| {
        text.split(',').map(|name| values::username(name.trim())).collect::<Result<Vec<_>, _>>()
    });
    if let (Ok(name), Ok(names)) = (&default, &enabled)
        && !names.contains(name)
    {
        let problem = SettingProblem::new(
            "is not in sellers.enabled",
            "Add it to sellers.enabled, or set one of those.",
        );
        default = Err(reader.record_fault(&settings::SELLER_DEFAULT, problem));
    }
    let parent = reader.take(&settings::SELLER_PARENT, ParentName::parse);
    Ok(SellersConfig { default: default?, enabled: enabled?, parent: parent? })
}

fn shop(reader: &mut SettingsReader) -> Result<ShopConfig, FaultRecorded> {
    let payee = reader.take_or(&settings::SHOP_PAYEE, SANDBOX_PAYEE, values::evm_address)?;
    Ok(ShopConfig { payee })
}

fn log(reader: &mut SettingsReader) -> Result<LogConfig, FaultRecorded> {
    let format = reader.take(&settings::LOG_FORMAT, LogFormat::parse);
    let filter = reader.take(&settings::LOG_FILTER, LogLevels::parse);
    Ok(LogConfig { format: format?, filter: filter? })
}

fn seconds(text: &str) -> Result<u64, SettingProblem> {
    values::number(text, 1..=600)
}

/// Parsed as the store does it, so that `check` finds the errors that `serve` would find.
fn keys_in_environment(text: &str) -> Result<Secret, SettingProblem> {
    match Keyring::from_text(text) {
        Ok(_) => Ok(Secret::new(text.to_owned())),
        Err(fault) => {
            Err(SettingProblem::new(fault.to_string(), "Create a key with `openssl rand -hex 32`."))
        }
    }
}

/// A path in the data folder. If the folder is invalid, the path is only used to find
/// further faults.
fn in_folder(data: Option<&Path>, name: &str) -> String {
    data.map_or_else(|| PathBuf::from(name), |data| data.join(name)).display().to_string()
}

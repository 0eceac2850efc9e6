//! `/.well-known/agent-skills/index.json`: skills that an agent can load, with their digests.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::premises::Premises;

const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// `texts` are the skills as they are served, by name: a digest over anything
/// but those bytes would make every honest copy look forged.
pub fn document(premises: &Premises, texts: &[(String, String)]) -> Value {
    let skills = premises.skills().filter_map(|skill| {
        let (_, text) = texts.iter().find(|(name, _)| *name == skill.name)?;
        Some(json!({
            "name": skill.name,
            "type": "skill-md",
            "description": skill.description,
            "url": premises.url(&skill.path()),
            "digest": digest(text),
        }))
    });
    json!({"$schema": SCHEMA, "skills": skills.collect::<Vec<_>>()})
}

fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    /// The hash of "abc" in FIPS 180-4.
    const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_skill_is_told_with_the_digest_of_the_text_that_is_served() {
        let premises = samples::premises();
        let skills = &premises.catalog.agents.skills;
        let texts: Vec<(String, String)> =
            skills.iter().map(|skill| (skill.name.clone(), "abc".to_owned())).collect();
        let index = document(&premises, &texts);
        let told = samples::list(&index["skills"]);
        assert_eq!(told.len(), skills.len());
        for (told, skill) in told.iter().zip(skills) {
            assert_eq!(told["name"], skill.name);
            assert_eq!(told["digest"], ABC);
            assert_eq!(told["url"], premises.url(&skill.path()));
            assert!(told["description"].as_str().unwrap().chars().count() <= 1_024);
        }
    }

    #[test]
    fn a_skill_that_is_not_served_is_not_told() {
        let premises = samples::premises();
        let index = document(&premises, &[]);
        assert!(samples::list(&index["skills"]).is_empty());
    }
}

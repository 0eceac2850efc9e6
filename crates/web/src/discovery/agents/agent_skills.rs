//! `/.well-known/agent-skills/index.json`: skills that an agent can load, with their digests.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::site_facts::SiteFacts;

const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// `texts` are the skills as they are served, by name. The digest must cover exactly those bytes.
pub fn document(facts: &SiteFacts, texts: &[(String, String)]) -> Value {
    let skills = facts.skills().filter_map(|skill| {
        let (_, text) = texts.iter().find(|(name, _)| *name == skill.name)?;
        Some(json!({
            "name": skill.name,
            "type": "skill-md",
            "description": skill.description,
            "url": facts.url(&skill.path()),
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
    use crate::discovery::fixtures;

    /// The hash of "abc" in FIPS 180-4.
    const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_skill_has_the_digest_of_the_text_that_is_served() {
        let facts = fixtures::site_facts();
        let skills = &facts.catalog.agents.skills;
        let texts: Vec<(String, String)> =
            skills.iter().map(|skill| (skill.name.clone(), "abc".to_owned())).collect();
        let index = document(&facts, &texts);
        let listed = fixtures::list(&index["skills"]);
        assert_eq!(listed.len(), skills.len());
        for (entry, skill) in listed.iter().zip(skills) {
            assert_eq!(entry["name"], skill.name);
            assert_eq!(entry["digest"], ABC);
            assert_eq!(entry["url"], facts.url(&skill.path()));
            assert!(entry["description"].as_str().unwrap().chars().count() <= 1_024);
        }
    }

    #[test]
    fn a_skill_that_is_not_served_is_not_listed() {
        let facts = fixtures::site_facts();
        let index = document(&facts, &[]);
        assert!(fixtures::list(&index["skills"]).is_empty());
    }
}

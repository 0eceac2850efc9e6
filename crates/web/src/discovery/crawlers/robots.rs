//! `/robots.txt`: rules for crawlers (RFC 9309, Content Signals).

use crate::discovery::links;
use crate::site_facts::SiteFacts;

/// Search and retrieval are allowed, training is not.
pub const CONTENT_SIGNAL: &str = "search=yes, ai-input=yes, ai-train=no";

/// Listed explicitly, so that the rules clearly apply to them.
const AGENTS: [&str; 10] = [
    "GPTBot",
    "OAI-SearchBot",
    "ChatGPT-User",
    "ClaudeBot",
    "Claude-User",
    "Claude-SearchBot",
    "PerplexityBot",
    "Perplexity-User",
    "Google-Extended",
    "CCBot",
];

pub fn document(facts: &SiteFacts) -> String {
    let rules = format!("Content-Signal: {CONTENT_SIGNAL}\nAllow: /\n");
    let agents: String = AGENTS.iter().map(|agent| format!("User-agent: {agent}\n")).collect();
    // `Agentmap` is not part of RFC 9309, and strict parsers would reject the file; a comment can
    // still be found.
    format!(
        "User-agent: *\n{rules}\n{agents}{rules}\nSitemap: {sitemap}\n# Agentmap: {catalog}\n",
        sitemap = facts.url(links::SITEMAP.path),
        catalog = facts.url(links::AI_CATALOG.path),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn all_agents_and_the_listed_agents_have_a_content_signal() {
        let text = document(&fixtures::site_facts());
        let groups: Vec<&str> = text.split("\n\n").collect();
        assert_eq!(groups.len(), 3, "{text}");
        assert!(groups[0].starts_with("User-agent: *\n"), "{text}");
        for agent in AGENTS {
            assert!(groups[1].contains(&format!("User-agent: {agent}\n")), "{agent}");
        }
        for group in &groups[..2] {
            assert!(group.contains("Content-Signal: search=yes, ai-input=yes, ai-train=no\n"));
            assert!(group.contains("Allow: /"));
        }
        assert!(groups[2].contains("Sitemap: https://shop.example.org/sitemap.xml\n"));
    }
}

//! `/robots.txt`: what crawlers may do with the words here (RFC 9309, Content Signals).

use super::places;
use crate::premises::Premises;

/// Read and answer from it, yes; make models of it, no.
pub const CONTENT_SIGNAL: &str = "search=yes, ai-input=yes, ai-train=no";

/// Named so that nobody has to guess whether the general rule means them too.
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

pub fn document(premises: &Premises) -> String {
    let rules = format!("Content-Signal: {CONTENT_SIGNAL}\nAllow: /\n");
    let agents: String = AGENTS.iter().map(|agent| format!("User-agent: {agent}\n")).collect();
    // `Agentmap` is not in RFC 9309, and a reader that takes the file strictly
    // would call it broken; as a comment it can be found all the same.
    format!(
        "User-agent: *\n{rules}\n{agents}{rules}\nSitemap: {sitemap}\n# Agentmap: {catalog}\n",
        sitemap = premises.url(places::SITEMAP.path),
        catalog = premises.url(places::AI_CATALOG.path),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    #[test]
    fn everybody_and_each_named_agent_meets_a_signal_in_its_own_group() {
        let text = document(&samples::premises());
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

//! Documents for agents: cards, skills, catalogs and OAuth metadata.

pub mod agent_card;
pub mod agent_skills;
pub mod ai_catalog;
pub mod mcp_card;
pub mod oauth;

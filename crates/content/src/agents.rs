//! Texts for agents: the registration guide, the guide to the site, and skills.

use crate::fault::ContentFault;
use crate::source::ContentSource;

const SKILLS: &str = "agents/skills";
/// The limit of the Agent Skills index.
const SKILL_DESCRIPTION_MAX: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTexts {
    /// How to register, with placeholders.
    pub auth: String,
    /// The head of `/llms.txt`, with placeholders.
    pub guide: String,
    pub skills: Vec<Skill>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    /// The whole file, with placeholders.
    pub text: String,
}

impl Skill {
    pub fn path(&self) -> String {
        format!("/.well-known/agent-skills/{}/SKILL.md", self.name)
    }

    fn read(file: &str, name: &str, text: String) -> Result<Self, ContentFault> {
        let fault = |message: &str| ContentFault::new(file, message);
        let head = text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
            .map(|(head, _)| head)
            .ok_or_else(|| {
                fault("must begin with name and description between two lines of ---")
            })?;
        let field = |key: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(key));
            line.map(|value| value.trim().trim_matches('"').to_owned())
        };
        if field("name:").as_deref() != Some(name) {
            return Err(fault("name: must be the name of its folder"));
        }
        let description = field("description:").filter(|text| !text.is_empty());
        let description = description.ok_or_else(|| fault("description: is missing"))?;
        if description.chars().count() > SKILL_DESCRIPTION_MAX {
            return Err(fault("description: must have at most 1,024 characters"));
        }
        Ok(Self { name: name.to_owned(), description, text })
    }
}

impl AgentTexts {
    pub(crate) fn read(source: &ContentSource) -> Result<Self, Vec<ContentFault>> {
        let one = |fault| vec![fault];
        let mut skills = Vec::new();
        let mut faults = Vec::new();
        for name in source.names(SKILLS).map_err(one)? {
            let file = format!("{SKILLS}/{name}/SKILL.md");
            match source.text(&file).and_then(|text| Skill::read(&file, &name, text)) {
                Ok(skill) => skills.push(skill),
                Err(fault) => faults.push(fault),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            auth: source.text("agents/auth.md").map_err(one)?,
            guide: source.text("agents/llms.txt").map_err(one)?,
            skills,
        })
    }
}

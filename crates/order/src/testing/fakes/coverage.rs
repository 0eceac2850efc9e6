//! Counts how often each outcome of each call, and each disturbance, met an order in each state.

use std::collections::HashMap;
use std::fmt::Write;

use possible::{POSSIBLE, PossibleRow, STATES};

mod possible;

/// An outcome of a call, or a disturbance, while an order was in this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Incident {
    pub call: &'static str,
    pub outcome: &'static str,
    /// The [headline](crate::lifecycle::Stored::headline) of the order; `offered` also before it has a row.
    pub state: &'static str,
}

/// What counts the incidents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    Simulation,
    FaultWalk,
}

/// How often each incident occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncidentCounts(HashMap<Incident, u64>);

impl IncidentCounts {
    pub fn add(&mut self, incident: Incident, by: u64) {
        *self.0.entry(incident).or_default() += by;
    }

    pub fn merge(&mut self, other: Self) {
        for (incident, by) in other.0 {
            self.add(incident, by);
        }
    }

    fn get(&self, incident: Incident) -> u64 {
        self.0.get(&incident).copied().unwrap_or_default()
    }

    /// Possible incidents that never occurred.
    pub fn missing(&self, coverage: Coverage) -> Vec<Incident> {
        let demanded = POSSIBLE.iter().flat_map(|row| row.demanded(coverage));
        demanded.filter(|incident| self.get(*incident) == 0).collect()
    }

    /// Incidents that occurred and are listed as impossible, or not at all.
    pub fn unexpected(&self, coverage: Coverage) -> Vec<Incident> {
        let listed = |incident: &Incident| {
            POSSIBLE.iter().any(|row| row.possible(coverage).any(|known| known == *incident))
        };
        let mut found: Vec<_> =
            self.0.keys().filter(|incident| !listed(incident)).copied().collect();
        found.sort();
        found
    }

    /// Why an incident is listed as impossible.
    pub fn why_impossible(incident: Incident) -> &'static str {
        let same =
            |row: &&PossibleRow| (row.call, row.outcome) == (incident.call, incident.outcome);
        POSSIBLE.iter().find(same).map_or("it is not in the table", |row| row.impossible)
    }

    /// How many different incidents occurred.
    pub fn kinds(&self) -> usize {
        self.0.len()
    }

    /// Outcomes and states as a matrix: a dot is impossible, a zero is missing, and a dash is
    /// too rare to be demanded.
    pub fn table(&self, coverage: Coverage) -> String {
        let mut text = format!("  {:<38}", "");
        for (_, heading) in STATES {
            write!(text, "{heading:>9}").expect("writing to a String cannot fail");
        }
        for row in POSSIBLE {
            write!(text, "\n  {:<38}", format!("{}: {}", row.call, row.outcome))
                .expect("writing to a String cannot fail");
            let possible: Vec<_> = row.possible(coverage).collect();
            let demanded: Vec<_> = row.demanded(coverage).collect();
            for (state, _) in STATES {
                let incident = Incident { call: row.call, outcome: row.outcome, state };
                let count = match self.get(incident) {
                    0 if !possible.contains(&incident) => ".".to_owned(),
                    0 if !demanded.contains(&incident) => "-".to_owned(),
                    count => short(count),
                };
                write!(text, "{count:>9}").expect("writing to a String cannot fail");
            }
        }
        text + "\n"
    }
}

impl PossibleRow {
    /// What must have occurred once enough orders were processed.
    fn demanded(&self, coverage: Coverage) -> impl Iterator<Item = Incident> + '_ {
        self.marked(match coverage {
            Coverage::Simulation => "+s",
            Coverage::FaultWalk => "+",
        })
    }

    fn possible(&self, coverage: Coverage) -> impl Iterator<Item = Incident> + '_ {
        self.marked(match coverage {
            Coverage::Simulation => "+sr",
            Coverage::FaultWalk => "+",
        })
    }

    fn marked(&self, wanted: &'static str) -> impl Iterator<Item = Incident> + '_ {
        let marked = STATES.iter().zip(self.states.split(' '));
        let marked = marked.filter(move |(_, mark)| wanted.contains(*mark));
        marked.map(|((state, _), _)| Incident { call: self.call, outcome: self.outcome, state })
    }
}

/// A count in at most six characters.
fn short(count: u64) -> String {
    match count {
        0..100_000 => count.to_string(),
        100_000..100_000_000 => format!("{} k", count / 1_000),
        _ => format!("{} M", count / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_impossible_combination_has_a_reason() {
        for row in POSSIBLE {
            let mut marks = row.states.split(' ');
            assert_eq!(marks.clone().count(), STATES.len(), "{row:?}");
            assert!(marks.clone().all(|mark| ["+", "s", "r", "."].contains(&mark)), "{row:?}");
            let impossible = marks.any(|mark| mark == ".");
            assert_eq!(impossible, !row.impossible.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn an_incident_that_is_missing_or_impossible_is_found() {
        let mut counts = IncidentCounts::default();
        let possible = counts.missing(Coverage::Simulation);
        for incident in &possible[1..] {
            counts.add(*incident, 1);
        }
        assert_eq!(counts.missing(Coverage::Simulation), [possible[0]]);
        assert!(counts.unexpected(Coverage::Simulation).is_empty());
        let unpaid = Incident { call: "submit", outcome: "accepted", state: "offered" };
        counts.add(unpaid, 1);
        assert_eq!(counts.unexpected(Coverage::Simulation), [unpaid]);
    }
}

//! The folders: which names there are, and which of them are durable.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};

use crate::random::Random;

pub type Node = u64;
pub const ROOT: Node = 1;

type Folder = BTreeMap<OsString, Node>;

/// One name appears, disappears or names another file.
#[derive(Clone)]
struct Change {
    folder: Node,
    name: OsString,
    node: Option<Node>,
    /// What the change is about, also if the name disappears.
    about: Node,
}

/// Whether a sync of a file makes the names of that file durable, or only a sync of its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSync {
    FileOrFolder,
    FolderOnly,
}

#[derive(Default)]
pub struct Names {
    now: HashMap<Node, Folder>,
    durable: HashMap<Node, Folder>,
    /// Operations since the last sync, in order. Each takes effect as a whole.
    log: Vec<Vec<Change>>,
}

impl Names {
    pub fn find(&self, folder: Node, name: &OsStr) -> Option<Node> {
        self.now.get(&folder)?.get(name).copied()
    }

    pub fn list(&self, folder: Node) -> impl Iterator<Item = (&OsString, Node)> {
        self.now.get(&folder).into_iter().flatten().map(|(name, node)| (name, *node))
    }

    pub fn is_empty(&self, folder: Node) -> bool {
        self.now.get(&folder).is_none_or(BTreeMap::is_empty)
    }

    pub fn add(&mut self, folder: Node, name: &OsStr, node: Node) {
        self.apply(vec![Change { folder, name: name.into(), node: Some(node), about: node }]);
    }

    pub fn remove(&mut self, folder: Node, name: &OsStr) {
        if let Some(about) = self.find(folder, name) {
            self.apply(vec![Change { folder, name: name.into(), node: None, about }]);
        }
    }

    pub fn rename(&mut self, from: (Node, &OsStr), to: (Node, &OsStr)) {
        if let Some(about) = self.find(from.0, from.1) {
            let old = Change { folder: from.0, name: from.1.into(), node: None, about };
            let new = Change { folder: to.0, name: to.1.into(), node: Some(about), about };
            self.apply(vec![old, new]);
        }
    }

    fn apply(&mut self, operation: Vec<Change>) {
        make(&mut self.now, &operation);
        self.log.push(operation);
    }

    /// Makes everything durable up to the last operation on this folder, or on this file.
    pub fn sync(&mut self, node: Node, sync: NameSync) {
        let concerns = |change: &Change| {
            change.folder == node || (sync == NameSync::FileOrFolder && change.about == node)
        };
        if let Some(last) = self.log.iter().rposition(|made| made.iter().any(concerns)) {
            self.commit(last + 1);
        }
    }

    /// A random number of the unsynced operations, from the first on, is durable, and the rest
    /// never happened. Returns how many were lost.
    pub fn lose(&mut self, random: &mut Random) -> usize {
        let kept = random.below(self.log.len() + 1);
        self.commit(kept);
        let lost = self.log.len();
        self.log.clear();
        self.now.clone_from(&self.durable);
        lost
    }

    fn commit(&mut self, count: usize) {
        for operation in self.log.drain(..count) {
            make(&mut self.durable, &operation);
        }
    }

    /// Everything that has a name, and the folders on the way to it.
    pub fn reachable(&self) -> Vec<Node> {
        let mut found = vec![ROOT];
        let mut next = 0;
        while let Some(folder) = found.get(next).copied() {
            found.extend(self.list(folder).map(|(_, node)| node));
            next += 1;
        }
        found
    }
}

fn make(folders: &mut HashMap<Node, Folder>, operation: &[Change]) {
    for Change { folder, name, node, .. } in operation {
        let folder = folders.entry(*folder).or_default();
        match node {
            Some(node) => folder.insert(name.clone(), *node),
            None => folder.remove(name),
        };
    }
}

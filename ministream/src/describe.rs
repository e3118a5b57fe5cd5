//! The graph of a pipeline in words: as text, and as a Mermaid diagram.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::ops::Deref;

use crate::context::{Context, EdgeId, EdgeInfo, MergeId, ReaderInfo};
use crate::graph::in_order;

/// What a pipeline does, stage by stage. See [`Pipeline::describe`](crate::Pipeline::describe).
///
/// `Display` writes one stage a line; [`to_mermaid`](Description::to_mermaid) the same graph as a diagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    text: String,
    mermaid: String,
}

impl Description {
    pub(crate) fn of(ctx: &Context, sources: &[EdgeId]) -> Self {
        let edges = in_order(ctx);
        let names = Names::of(&edges, ctx, sources);
        Description { text: text(&edges, &names), mermaid: mermaid(&edges, &names) }
    }

    /// The text, as `Display` writes it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The graph as a flowchart for [Mermaid](https://mermaid.js.org), which GitHub and many editors show.
    pub fn to_mermaid(&self) -> &str {
        &self.mermaid
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Deref for Description {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl From<Description> for String {
    fn from(description: Description) -> String {
        description.text
    }
}

impl PartialEq<str> for Description {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for Description {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl PartialEq<String> for Description {
    fn eq(&self, other: &String) -> bool {
        self.text == *other
    }
}

/// What edges are called.
struct Names {
    /// Of each edge that a chain reads: `source: Click`, `stream 1: Click`, `union 1: Click`.
    read: BTreeMap<EdgeId, String>,
}

impl Names {
    fn of(edges: &[(EdgeId, EdgeInfo)], ctx: &Context, sources: &[EdgeId]) -> Self {
        let mut read = BTreeMap::new();
        let (mut streams, mut merges) = (0, BTreeMap::<&str, usize>::new());
        let mut merged: BTreeMap<EdgeId, MergeId> = BTreeMap::new();
        let mut copied: BTreeMap<EdgeId, EdgeId> = BTreeMap::new();
        for (id, edge) in edges {
            if let ReaderInfo::Chain(chain) = &edge.reader
                && let Some(merge) = chain.merge
            {
                merged.insert(chain.end, merge);
            }
            copied.extend(edge.copies.iter().map(|&copy| (copy, *id)));
        }
        for (id, edge) in edges {
            let is_read = matches!(edge.reader, ReaderInfo::Chain(_)) || !edge.copies.is_empty();
            let source = sources.iter().position(|source| source == id);
            let name = if let Some(name) = copied.get(id).and_then(|original| read.get(original)) {
                String::clone(name)
            } else if let Some(number) = source {
                let number = if sources.len() == 1 { String::new() } else { format!(" {number}") };
                format!("source{number}: {}", edge.type_name)
            } else if let Some(merge) = merged.get(id).and_then(|merge| ctx.merges.get(merge.0)) {
                let number = merges.entry(merge.stage).or_default();
                *number += 1;
                format!("{} {number}: {}", merge.stage, edge.type_name)
            } else if is_read {
                streams += 1;
                format!("stream {streams}: {}", edge.type_name)
            } else {
                continue;
            };
            read.insert(*id, name);
        }
        Names { read }
    }

    /// Where an edge leads.
    fn target(&self, id: EdgeId, edges: &[(EdgeId, EdgeInfo)]) -> String {
        let edge = edges.iter().find(|(known, _)| *known == id).map(|(_, edge)| edge);
        match edge.map(|edge| (&edge.reader, edge)) {
            Some((ReaderInfo::Output(number), edge)) if edge.copies.is_empty() => {
                format!("output {number}: {}", edge.type_name)
            }
            _ => self.read.get(&id).cloned().unwrap_or_else(|| "discarded".to_owned()),
        }
    }
}

fn text(edges: &[(EdgeId, EdgeInfo)], names: &Names) -> String {
    let mut text = String::new();
    for (id, edge) in edges {
        let Some(name) = names.read.get(id) else { continue };
        match &edge.reader {
            ReaderInfo::Chain(chain) => {
                let _ = writeln!(text, "{name}");
                for operator in &chain.operators {
                    for stage in &operator.stages {
                        let _ = writeln!(text, "  -> {stage}");
                    }
                    for (port, edge) in &operator.ports {
                        let _ = writeln!(text, "     .{port} => {}", names.target(*edge, edges));
                    }
                }
                let _ = writeln!(text, "  => {}", names.target(chain.end, edges));
            }
            // A stream that goes out as it came in, or is cloned as well.
            ReaderInfo::Output(number) => {
                let _ = writeln!(text, "{name}\n  => output {number}: {}", edge.type_name);
            }
            ReaderInfo::Discarded if edge.copies.is_empty() => {
                let _ = writeln!(text, "{name}\n  => discarded");
            }
            ReaderInfo::Discarded | ReaderInfo::Nobody => {}
        }
    }
    text
}

fn mermaid(edges: &[(EdgeId, EdgeInfo)], names: &Names) -> String {
    let mut diagram = Mermaid { text: "flowchart TD\n".to_owned(), known: BTreeMap::new() };
    for (id, edge) in edges {
        let Some(name) = names.read.get(id) else { continue };
        let mut from = diagram.place(name);
        match &edge.reader {
            ReaderInfo::Chain(chain) => {
                for operator in &chain.operators {
                    for stage in &operator.stages {
                        let to = diagram.stage(stage);
                        diagram.arrow(&from, None, &to);
                        from = to;
                    }
                    for (port, edge) in &operator.ports {
                        let to = diagram.place(&names.target(*edge, edges));
                        diagram.arrow(&from, Some(port), &to);
                    }
                }
                let to = diagram.place(&names.target(chain.end, edges));
                diagram.arrow(&from, None, &to);
            }
            ReaderInfo::Output(number) => {
                let to = diagram.place(&format!("output {number}: {}", edge.type_name));
                diagram.arrow(&from, None, &to);
            }
            ReaderInfo::Discarded | ReaderInfo::Nobody => {}
        }
    }
    diagram.text
}

/// A flowchart under work: stages are boxes, the streams between them and the rim are rounded.
struct Mermaid {
    text: String,
    known: BTreeMap<String, String>,
}

impl Mermaid {
    /// The node of a named stream.
    fn place(&mut self, name: &str) -> String {
        if let Some(node) = self.known.get(name) {
            return node.clone();
        }
        let node = format!("s{}", self.known.len());
        let _ = writeln!(self.text, "    {node}([\"{}\"])", escaped(name));
        self.known.insert(name.to_owned(), node.clone());
        node
    }

    fn stage(&mut self, stage: &str) -> String {
        let node = format!("n{}", self.text.lines().count());
        let _ = writeln!(self.text, "    {node}[\"{}\"]", escaped(stage));
        node
    }

    fn arrow(&mut self, from: &str, port: Option<&str>, to: &str) {
        let _ = match port {
            Some(port) => writeln!(self.text, "    {from} -- {port} --> {to}"),
            None => writeln!(self.text, "    {from} --> {to}"),
        };
    }
}

/// Mermaid reads `<…>` as tags, and its entities start with `#`.
fn escaped(text: &str) -> String {
    text.replace('#', "#35;").replace('<', "#lt;").replace('>', "#gt;").replace('"', "#quot;")
}

//! Which crate may use which, read from the manifests. A crate is named by its folder.

use cargo_metadata::{Dependency, DependencyKind, Metadata, camino::Utf8Path};

struct Allowed {
    folder: &'static str,
    uses: &'static [&'static str],
    /// What its tests may use on top.
    tests_use: &'static [&'static str],
}

/// Nothing uses `benches`, `fuzz` or `xtask`: no row names them.
const ALLOWED: [Allowed; 8] = [
    Allowed { folder: "core", uses: &[], tests_use: &[] },
    Allowed { folder: "sim", uses: &["core"], tests_use: &[] },
    Allowed { folder: "adapter", uses: &["core"], tests_use: &["sim"] },
    Allowed { folder: "conformance", uses: &["core", "sim"], tests_use: &[] },
    Allowed { folder: "cli", uses: &["core", "sim", "adapter", "conformance"], tests_use: &[] },
    Allowed { folder: "benches", uses: &["core", "sim", "adapter", "conformance"], tests_use: &[] },
    Allowed { folder: "fuzz", uses: &["core"], tests_use: &[] },
    Allowed { folder: "xtask", uses: &[], tests_use: &[] },
];

/// What breaks the directions, one sentence each.
pub(crate) fn findings(workspace: &Metadata) -> Vec<String> {
    let root = &workspace.workspace_root;
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let from = package.manifest_path.parent().map_or("", |path| folder(root, path));
        for dependency in &package.dependencies {
            let to = dependency.path.as_deref().map(|path| folder(root, path));
            findings.extend(judge(from, &Use::of(dependency, to)));
        }
    }
    findings
}

fn folder<'a>(root: &Utf8Path, path: &'a Utf8Path) -> &'a str {
    path.strip_prefix(root).map_or(path.as_str(), Utf8Path::as_str)
}

/// One dependency, reduced to what decides.
struct Use<'a> {
    name: &'a str,
    /// The folder, where it is ours.
    ours: Option<&'a str>,
    in_tests: bool,
    optional: bool,
}

impl<'a> Use<'a> {
    fn of(dependency: &'a Dependency, ours: Option<&'a str>) -> Self {
        Self {
            name: &dependency.name,
            ours,
            in_tests: dependency.kind == DependencyKind::Development,
            optional: dependency.optional,
        }
    }
}

fn judge(from: &str, used: &Use<'_>) -> Option<String> {
    let Some(allowed) = ALLOWED.iter().find(|allowed| allowed.folder == from) else {
        return Some(format!("{from}: expected a row in xtask/src/directions.rs: add one"));
    };
    match used.ours {
        Some(to) => {
            let may = allowed.uses.contains(&to)
                || used.in_tests && (allowed.tests_use.contains(&to) || to == from);
            (!may).then(|| format!("{from}/Cargo.toml: expected no use of {to}: turn it around"))
        }
        None if from == "core" && !used.in_tests && !used.optional => Some(format!(
            "core/Cargo.toml: expected {} to be optional: decisions on rows need no other crate",
            used.name
        )),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: Use<'_> =
        Use { name: "hookproof-core", ours: Some("core"), in_tests: false, optional: false };
    const SIM: Use<'_> = Use { name: "hookproof-sim", ours: Some("sim"), ..CORE };
    const SHA2: Use<'_> = Use { name: "sha2", ours: None, ..CORE };

    #[test]
    fn the_simulator_uses_the_core_and_never_the_other_way_round() {
        assert_eq!(judge("sim", &CORE), None);
        assert!(judge("core", &SIM).is_some());
        assert!(judge("core", &Use { in_tests: true, ..SIM }).is_some());
    }

    #[test]
    fn the_core_has_foreign_crates_behind_features_and_in_tests_only() {
        assert!(judge("core", &SHA2).is_some());
        assert_eq!(judge("core", &Use { optional: true, ..SHA2 }), None);
        assert_eq!(judge("core", &Use { in_tests: true, ..SHA2 }), None);
        assert_eq!(judge("sim", &SHA2), None);
    }

    #[test]
    fn the_adapter_uses_the_simulator_in_tests_only() {
        assert!(judge("adapter", &SIM).is_some());
        assert_eq!(judge("adapter", &Use { in_tests: true, ..SIM }), None);
    }

    #[test]
    fn nothing_uses_the_checks_the_benches_or_the_fuzz_targets() {
        for folder in ["benches", "fuzz", "xtask"] {
            for row in ALLOWED {
                assert!(!row.uses.contains(&folder) && !row.tests_use.contains(&folder));
            }
        }
    }

    #[test]
    fn a_crate_without_a_row_is_named() {
        assert!(judge("tools", &CORE).is_some_and(|finding| finding.starts_with("tools:")));
    }
}

//! A throw-away PostgreSQL for the tests of the stores: from the server's binaries, in a folder of its own,
//! on a socket there and on no port, with the settings of production.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
};

use anyhow::{Context, Result, bail, ensure};

/// Where the tests look for the server's address.
pub(crate) const VARIABLE: &str = "HOOKPROOF_POSTGRES";

/// Runs a command beside a server, and gives its failure on.
pub(crate) fn run(command: &[String]) -> Result<()> {
    let [program, args @ ..] = command else { bail!("expected a command: name one") };
    let server = Server::start()?;
    let status = Command::new(program)
        .args(args)
        .env(VARIABLE, server.url())
        .status()
        .with_context(|| format!("expected to start {program}: is it installed?"))?;
    ensure!(status.success(), "expected `{}` to pass, got {status}", command.join(" "));
    Ok(())
}

/// A running server. Dropping it stops it and takes its folder away.
pub(crate) struct Server {
    binaries: PathBuf,
    folder: PathBuf,
    /// Who runs it: PostgreSQL refuses the superuser of the machine.
    user: Option<&'static str>,
}

impl Server {
    pub(crate) fn start() -> Result<Self> {
        let is_root = answer(Command::new("id").arg("-u"))? == "0";
        let binaries = match newest(Path::new(DEBIAN)) {
            Some(binaries) => binaries,
            None => installed(is_root)?,
        };
        let folder = env::temp_dir().join(format!("hookproof-pg-{}", process::id()));
        fs::create_dir(&folder)
            .with_context(|| format!("expected to make {}: is it left over?", folder.display()))?;
        let server = Self { binaries, folder, user: is_root.then_some(SERVER_USER) };
        if let Some(user) = server.user {
            check(Command::new("chown").arg(user).arg(&server.folder))?;
        }
        server.init()?;
        Ok(server)
    }

    /// The address for the tests.
    pub(crate) fn url(&self) -> String {
        format!("postgres://hookproof@localhost/postgres?host={}", self.folder.display())
    }

    fn init(&self) -> Result<()> {
        let init = ["--username=hookproof", "--auth=trust", "--encoding=UTF8", "--no-locale"];
        check(self.command("initdb").args(init).arg("--no-sync").arg(self.data()))?;
        let socket =
            format!("-c listen_addresses= -c unix_socket_directories={}", self.folder.display());
        let log = self.folder.join("log");
        let start = self
            .command("pg_ctl")
            .arg("start")
            .arg("--wait")
            .args(["--silent", "--log"])
            .arg(&log)
            .arg("--options")
            .arg(socket)
            .arg("--pgdata")
            .arg(self.data())
            .status()?;
        ensure!(
            start.success(),
            "expected the server to start, got {start}:\n{}",
            fs::read_to_string(&log).unwrap_or_default()
        );
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn command(&self, program: &str) -> Command {
        let program = self.binaries.join(program);
        let Some(user) = self.user else { return Command::new(program) };
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups", "--"]).arg(program);
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let stop = ["stop", "--silent", "--mode=immediate", "--pgdata"];
        let stopped = check(self.command("pg_ctl").args(stop).arg(self.data()));
        let removed = fs::remove_dir_all(&self.folder).context("expected to remove its folder");
        if let Err(error) = stopped.and(removed) {
            eprintln!("warning: {} is left over: {error:#}", self.folder.display());
        }
    }
}

/// The newest server below the folder in which Debian keeps one for each version.
fn newest(root: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(root).ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        let binaries = entry.path().join("bin");
        binaries.join("initdb").exists().then_some((version, binaries))
    });
    versions.max().map(|(_, binaries)| binaries)
}

/// Has Debian install its server, where we may.
fn installed(is_root: bool) -> Result<PathBuf> {
    let advice = "expected PostgreSQL's initdb and pg_ctl below /usr/lib/postgresql, found none: run \
                  `apt-get install postgresql`, or put a link to another server's folder there";
    ensure!(is_root, advice);
    println!("installing Debian's postgresql");
    check(apt_get().arg("update")).context(advice)?;
    check(apt_get().args(["install", "--yes", "--no-install-recommends", "postgresql"]))
        .context(advice)?;
    newest(Path::new(DEBIAN)).context(advice)
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.arg("--quiet").env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Runs a command whose output matters only if it fails.
fn check(command: &mut Command) -> Result<()> {
    answer(command).map(drop)
}

fn answer(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("expected to start {program}"))?;
    ensure!(
        output.status.success(),
        "expected {program} to pass, got {}:\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Where Debian keeps its servers, a folder each version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// The user that Debian's package makes.
const SERVER_USER: &str = "postgres";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_a_number_and_not_a_word() {
        let root = env::temp_dir().join(format!("hookproof-newest-{}", process::id()));
        for version in ["9", "15", "common"] {
            let bin = root.join(version).join("bin");
            fs::create_dir_all(&bin).unwrap();
            fs::write(bin.join("initdb"), "").unwrap();
        }
        let found = newest(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, Some(root.join("15").join("bin")));
        assert_eq!(newest(&root), None);
    }
}

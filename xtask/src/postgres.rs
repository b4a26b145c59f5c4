//! A throw-away PostgreSQL for the tests of the stores: from the server's binaries, in a folder of its own,
//! on a socket there and on no port, with the settings of production. It ends with whoever started it, and
//! be it by a signal.

use std::{
    env, fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

/// Where the tests look for the server's address.
pub(crate) const VARIABLE: &str = "HOOKPROOF_POSTGRES";
/// Where they look for what runs a program of the server's: the words before its name.
pub(crate) const PROGRAMS: &str = "HOOKPROOF_POSTGRES_PROGRAMS";

/// Runs a command beside a server, and gives its failure on.
pub(crate) fn run(command: &[String]) -> Result<()> {
    let [program, args @ ..] = command else { bail!("expected a command: name one") };
    let server = Server::start()?;
    let status = Command::new(program)
        .args(args)
        .env(VARIABLE, server.url())
        .env(PROGRAMS, server.programs())
        .status()
        .with_context(|| format!("expected to start {program}: is it installed?"))?;
    ensure!(status.success(), "expected `{}` to pass, got {status}", command.join(" "));
    Ok(())
}

/// A running server. Dropping it stops it and takes its folder away, and so does the end of this process.
pub(crate) struct Server {
    watchdog: Child,
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
        let user = is_root.then_some(SERVER_USER);
        if let Some(user) = user {
            check(Command::new("chown").arg(user).arg(&folder))?;
        }
        let watchdog = watchdog(&binaries, user, &folder)?;
        let server = Self { watchdog, binaries, folder, user };
        server.init()?;
        Ok(server)
    }

    /// The address for the tests.
    pub(crate) fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// What stands before the name of one of its programs, for a test that has a server of its own.
    pub(crate) fn programs(&self) -> String {
        let command = self.command("");
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn url_of(&self, database: &str) -> String {
        format!("postgres://hookproof@localhost/{database}?host={}", self.folder.display())
    }

    pub(crate) fn make_database(&self, name: &str) -> Result<()> {
        let mut create = self.command("createdb");
        check(create.arg("--host").arg(&self.folder).args(["--username=hookproof", name]))
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
        command(&self.binaries, self.user, program)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        match self.watchdog.wait() {
            Ok(status) if status.success() => {}
            ended => eprintln!("warning: {} is left over: {ended:?}", self.folder.display()),
        }
    }
}

/// Starts what stops the server: a shell at the other end of a pipe, which ends when the last of us does,
/// whatever ended us. It is in a group of its own, since an interrupt is for a whole group.
fn watchdog(binaries: &Path, user: Option<&str>, folder: &Path) -> Result<Child> {
    let mut stop = command(binaries, user, "pg_ctl");
    stop.args(["stop", "--silent", "--mode=immediate", "--pgdata"]).arg(folder.join("data"));
    Command::new("sh")
        .args(["-c", r#"folder=$1; shift; cat; "$@"; rm -r "$folder""#, "watchdog"])
        .arg(folder)
        .arg(stop.get_program())
        .args(stop.get_args())
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()
        .context("expected to start sh")
}

/// A command of the server's, by the user who may run it.
fn command(binaries: &Path, user: Option<&str>, program: &str) -> Command {
    let program = binaries.join(program);
    let Some(user) = user else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups", "--"]).arg(program);
    command
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

pub(crate) fn answer(command: &mut Command) -> Result<String> {
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

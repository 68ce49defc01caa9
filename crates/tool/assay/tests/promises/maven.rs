//! A fake Maven client that serves jars from a directory.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::workspace::{ProgramOutput, Workspace};

/// Copies jars from its own directory and logs requests.
const CLIENT: &str = r#"#!/bin/sh
for argument in "$@"; do
    case "$argument" in
    -Dartifact=*) artifact="${argument#-Dartifact=}" ;;
    -DoutputDirectory=*) out="${argument#-DoutputDirectory=}" ;;
    esac
done
home="${0%/*}"
echo "$artifact" >>"$home/requests"
IFS=: read -r group name version kind classifier <<END
$artifact
END
jar="$home/$name-$version${classifier:+-$classifier}.jar"
if [ -f "$jar" ]; then
    exec cp "$jar" "$out/"
fi
echo "[ERROR] Failed to execute goal x:y:1:copy on project z: Unable to find/resolve artifact." \
    "Could not find artifact $artifact in r (https://repo.example/)"
exit 1
"#;

impl Workspace {
    /// Puts the client first in the path of [`Workspace::assay_with_maven`].
    pub(crate) fn install_maven(&self) {
        fs::create_dir(self.path("bin")).expect("a directory");
        self.write("bin/mvn", CLIENT);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path("bin/mvn"), executable).expect("an executable file");
    }

    /// Publishes a jar with the named members.
    pub(crate) fn publish(&self, jar: &str, members: &[(&str, &[u8])]) {
        let path = self.path("bin").join(jar);
        let mut zip = ZipWriter::new(fs::File::create(path).expect("a file"));
        for (name, content) in members {
            zip.start_file(*name, SimpleFileOptions::default()).expect("a member");
            zip.write_all(content).expect("its content");
        }
        zip.finish().expect("a jar");
    }

    /// Runs the program with the client first in its path.
    pub(crate) fn assay_with_maven(&self, arguments: &[&str]) -> ProgramOutput {
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        let output = self.program(arguments).env("PATH", path).output();
        ProgramOutput::of(output.expect("the program starts"))
    }

    /// Returns the number of requests.
    pub(crate) fn request_count(&self) -> usize {
        fs::read_to_string(self.path("bin/requests")).unwrap_or_default().lines().count()
    }
}

/// Returns a file image that passes for a library of this machine, with `tail` after its header.
pub(crate) fn library(tail: &str) -> Vec<u8> {
    let machine: u16 = match std::env::consts::ARCH {
        "x86_64" => 62,
        "aarch64" => 183,
        "riscv64" => 243,
        "s390x" => 22,
        _ => 21,
    };
    elf(machine, tail)
}

/// Returns the same for another architecture.
pub(crate) fn foreign_library() -> Vec<u8> {
    elf(if std::env::consts::ARCH == "aarch64" { 62 } else { 183 }, "foreign")
}

fn elf(machine: u16, tail: &str) -> Vec<u8> {
    let mut image = b"\x7fELF\x02".to_vec();
    image.push(if cfg!(target_endian = "big") { 2 } else { 1 });
    image.resize(16, 0);
    image.extend(3_u16.to_ne_bytes());
    image.extend(machine.to_ne_bytes());
    image.resize(64, 0);
    image.extend(tail.as_bytes());
    image
}

/// Returns the name of this machine's library in a jar.
pub(crate) fn member() -> String {
    match std::env::consts::ARCH {
        "x86_64" => "librocksdbjni-linux64.so".to_owned(),
        other => format!("librocksdbjni-linux-{other}.so"),
    }
}

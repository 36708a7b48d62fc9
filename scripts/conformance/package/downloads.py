"""Tries the files of a release as those who download them do.

    downloads.py FOLDER

FOLDER is what scripts/release made, or a part of it. The installer takes the archive of this machine from the folder
and from a web server, refuses what was changed on the way, and removes what it installed and nothing else. Container
images are read by the specification of their layout and, where this can be done, unpacked and run as their user. What
cannot be tried here is named.
"""

import functools
import gzip
import hashlib
import http.server
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
from pathlib import Path

# The names of processors: Debian's, and the kernel's.
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
SETUP = ("setup", "--workspace", "Acme", "--owner-email", "you@acme.example", "--owner-name", "You",
         "--inbox", "support@acme.example", "--inbox-name", "Support")


def main():
    folder = Path(sys.argv[1]).resolve()
    check_sums(folder)
    scratch = Path(tempfile.mkdtemp(prefix="downloads-"))
    # The user of an image has to enter its tree.
    scratch.chmod(0o755)
    try:
        Installer(folder, scratch).check()
        for archive in sorted(folder.glob("mailroom-*-image-*.tar")):
            check_image(archive, scratch / archive.stem)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def check_sums(folder):
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    sums = {name: found for found, name in (line.split("  ") for line in lines)}
    there = {path.name for path in folder.iterdir()} - {"SHA256SUMS", "SHA256SUMS.asc"}
    assert sums.keys() == there, f"SHA256SUMS names {sorted(sums)}, and there are {sorted(there)}"
    for name, wanted in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == wanted, f"{name} differs from SHA256SUMS"
    print(f"   {len(sums)} files are what SHA256SUMS says")


class Installer:
    def __init__(self, folder, scratch):
        self.folder, self.scratch, self.prefix = folder, scratch, scratch / "prefix"

    def check(self):
        self.check_installation()
        self.check_web_server()
        self.check_refusals()
        self.check_removal()
        print("   the installer: from a folder, from a web server, refusals and removal")

    def run(self, *words, status=0, script=None):
        done = subprocess.run(
            ["sh", script or self.folder / "install.sh", *words, "--prefix", self.prefix],
            capture_output=True, text=True, env={"PATH": os.environ["PATH"], "HOME": str(self.scratch)},
        )
        assert done.returncode == status, (words, done.returncode, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def files(self):
        return {path.relative_to(self.prefix): path.read_bytes() for path in self.prefix.rglob("*") if path.is_file()}

    def refuses(self, *words, because, script=None):
        before = self.files()
        said = self.run(*words, status=1, script=script)
        assert because in said, said
        assert self.files() == before, f"{words} changed something"

    def check_installation(self):
        said = self.run()
        assert "is what SHA256SUMS says" in said and "Installed mailroom" in said, said
        program = self.prefix / "bin/mailroom"
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        assert version.startswith("mailroom "), version
        listed = (self.prefix / "share/mailroom/installed.txt").read_text().splitlines()
        assert {str(path) for path in self.files()} == set(listed), listed

    def check_web_server(self):
        first = self.files()
        # What an earlier version had and this one has not goes; what it never had stays.
        with open(self.prefix / "share/mailroom/installed.txt", "a") as file:
            file.write("share/doc/mailroom/old.md\n")
        (self.prefix / "share/doc/mailroom/old.md").write_text("old")
        (self.prefix / "share/doc/mailroom/mine.md").write_text("mine")
        script = self.scratch / "install.sh"
        shutil.copy(self.folder / "install.sh", script)
        with served(self.folder) as address:
            assert "Installed mailroom" in self.run("--from", address, script=script)
            self.refuses("--from", f"{address}/none", because="cannot be fetched", script=script)
        assert self.files() == first | {Path("share/doc/mailroom/mine.md"): b"mine"}
        self.refuses("--from", "http://downloads.example", because="over http nobody proves", script=script)
        self.refuses(because="say with --from", script=script)

    def check_refusals(self):
        changed = self.scratch / "changed"
        shutil.copytree(self.folder, changed)
        (archive,) = changed.glob(f"mailroom-*-linux-{platform.machine()}.tar.gz")
        data = bytearray(archive.read_bytes())
        data[len(data) // 2] ^= 1
        archive.write_bytes(data)
        self.refuses("--from", changed, because="is not what SHA256SUMS says")
        keyring = self.scratch / "nobody.gpg"
        keyring.write_bytes(b"")
        signature = changed / "SHA256SUMS.asc"
        signature.unlink(missing_ok=True)
        self.refuses("--from", changed, "--keyring", keyring, because="nothing was changed")
        signature.write_text("none\n")
        if shutil.which("gpgv"):
            self.refuses("--from", changed, "--keyring", keyring, because="is not signed by a key")
        shutil.rmtree(changed)
        (self.prefix / "share/mailroom/installed.txt").rename(self.scratch / "installed.txt")
        self.refuses(because="was not installed by this script")
        (self.scratch / "installed.txt").rename(self.prefix / "share/mailroom/installed.txt")

    def check_removal(self):
        data = self.scratch / "data"
        data.mkdir()
        (data / "mailroom.db").write_text("mail")
        self.refuses("--uninstall", "--delete-data", data, because="is no data folder")
        assert data.exists()
        (data / "secret.key").write_text("secret")
        assert "left as they are" in self.run("--uninstall")
        assert self.files() == {Path("share/doc/mailroom/mine.md"): b"mine"}, self.files().keys()
        assert (data / "secret.key").exists()
        self.refuses("--uninstall", because="nothing was installed")
        (self.prefix / "share/doc/mailroom/mine.md").unlink()
        self.run()
        assert f"Removed the data in {data}" in self.run("--uninstall", "--delete-data", data)
        assert not data.exists() and not self.files()


class served:
    """A web server for a folder."""

    def __init__(self, folder):
        handler = functools.partial(QuietHandler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *_):
        self.server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check_image(archive, tree):
    with tarfile.open(archive) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar if member.isreg()}
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    for path, data in files.items():
        if path.startswith("blobs/sha256/"):
            assert path.endswith(hashlib.sha256(data).hexdigest()), f"{path} is not what its name says"

    def blob(descriptor):
        data = files["blobs/" + descriptor["digest"].replace(":", "/")]
        assert len(data) == descriptor["size"], descriptor
        return data

    (named,) = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(blob(named))
    config = json.loads(blob(manifest["config"]))
    layers = [gzip.decompress(blob(layer)) for layer in manifest["layers"]]
    digests = ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]
    assert config["rootfs"]["diff_ids"] == digests, "diff_ids"
    (listed,) = json.loads(files["manifest.json"])
    assert files[listed["Config"]] == blob(manifest["config"])
    assert [files[path] for path in listed["Layers"]] == [blob(layer) for layer in manifest["layers"]]
    settings = config["config"]
    user, group = map(int, settings["User"].split(":"))
    assert user and group, "the image runs as root"
    assert settings["Volumes"] == {"/data": {}}
    environment = dict(entry.split("=", 1) for entry in settings["Env"])
    assert environment["MAILROOM_DATA"] == "/data"
    check_tree(layers, tree, user)
    run_image(config, tree, user, environment)


def check_tree(layers, tree, user):
    tree.mkdir()
    data_owner = None
    for layer in layers:
        with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
            for member in tar:
                path = Path(member.name)
                assert not path.is_absolute() and ".." not in path.parts, member.name
                assert member.mode & 0o6000 == 0, f"{member.name} has a set-id bit"
                data_owner = member.uid if member.name == "data" else data_owner
            tar.extractall(tree, filter="fully_trusted") if hasattr(tarfile, "data_filter") else tar.extractall(tree)
    assert data_owner == user, "the volume belongs to somebody else"
    bundle = (tree / "etc/ssl/certs/ca-certificates.crt").read_text()
    assert bundle.count("BEGIN CERTIFICATE") > 100, "certificate authorities are missing"
    assert not (tree / "bin/sh").exists()


def run_image(config, tree, user, environment):
    name = f"the image for {config['architecture']}"
    machine = MACHINES[config["architecture"]]
    program = config["config"]["Entrypoint"][0]
    if machine != platform.machine():
        emulator = shutil.which(f"qemu-{machine}-static") or shutil.which(f"qemu-{machine}")
        if not emulator:
            print(f"   {name} is sound; NOT run: qemu-user-static is not installed")
            return
        command = [emulator, "-L", tree, tree / program.lstrip("/")]
        environment = environment | {"MAILROOM_DATA": str(tree / "data")}
    elif os.getuid() != 0:
        print(f"   {name} is sound; NOT run: chroot needs root")
        return
    else:
        command = [shutil.which("chroot"), f"--userspec={user}:{user}", tree, program]
    for words in (("--version",), SETUP, ("check",)):
        done = subprocess.run([*command, *words], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, (words, done.stdout + done.stderr)
    assert (tree / "data/secret.key").exists(), "the data are not in the volume"
    print(f"   {name} is sound, and sets up a workspace in its volume")


if __name__ == "__main__":
    main()

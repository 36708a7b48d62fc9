"""What can go wrong: each kind of fault strikes some part of an installation and is mended again. What this
machine does not permit is named with the reason, never left out in silence."""

import errno
import os
import shutil
import signal
import struct
import subprocess
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

from cluster import until

# Seconds between two faults, how long one lasts, and how long something that was killed is away.
BETWEEN, LASTS, AWAY = (0.5, 2.5), (0.5, 4.0), (0.0, 1.0)
# Seconds that a slow network needs for each piece.
DELAY = (0.05, 0.5)
# A slow disk stands still for so long, again and again, and works for so long in between.
FROZEN, THAWED = 0.4, 0.1
# Bytes of a disk, and of the pieces that it is filled with.
DISK_BYTES, FILLED = 1 << 30, [1 << 20, 1 << 12]
# How far the clock of one node may jump: less than a lease, because nodes must agree about those. All jump
# together by as much as this, in seconds.
SKEW, JUMP = 30, 3_600
# The order of mending: what others need first.
DISK, NETWORK, DATABASE, SERVICE, CLOCK, NODE = range(6)


class Fault:
    """One fault of a part: what it does, how it is undone, and whether a mail that was just accepted by the
    relay may leave once more because of it."""

    def __init__(self, kind, part, strike, mend, order, repeats=False, kills=False, lasts=LASTS):
        self.kind, self.part, self.strike, self.mend, self.order = kind, part, strike, mend, order
        self.repeats, self.kills, self.lasts = repeats, kills, lasts


class Disk:
    """A small disk of its own: a file with a file system in it."""

    def __init__(self, folder, name):
        self.folder, self.name = Path(folder) / f"disk-{name}", name
        self.image, self.filler = Path(folder) / f"disk-{name}.image", self.folder / "filler"
        self.folder.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(DISK_BYTES)
        # Nothing is reserved for root, as whom the nodes run here.
        run("mkfs.ext4", "-q", "-F", "-m", "0", self.image)
        run("mount", "-o", "loop", self.image, self.folder)
        self.is_mounted, self.is_remounted, self.freezer = True, False, None

    @staticmethod
    def missing():
        """Why there cannot be one, or nothing."""
        if os.getuid() != 0:
            return "needs root"
        lacking = [name for name in ("mkfs.ext4", "mount", "umount", "chattr", "fsfreeze") if not shutil.which(name)]
        return f"{lacking[0]} is not installed" if lacking else None

    def fill(self):
        with open(self.filler, "wb") as filler:
            for size in FILLED:
                try:
                    while True:
                        os.posix_fallocate(filler.fileno(), os.fstat(filler.fileno()).st_size, size)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def empty(self):
        self.filler.unlink(missing_ok=True)

    def forbid_writing(self):
        """A file system with files open for writing cannot be remounted; then each of them is made immutable."""
        self.is_remounted = run("mount", "-o", "remount,ro", self.folder, check=False)
        if not self.is_remounted:
            run("chattr", "-R", "-f", "+i", self.folder, check=False)

    def allow_writing(self):
        if self.is_remounted:
            run("mount", "-o", "remount,rw", self.folder)
        else:
            run("chattr", "-R", "-f", "-i", self.folder, check=False)

    def slow_down(self):
        """The file system is frozen again and again: whoever writes waits."""
        self.freezer = Freezer(self.folder)
        self.freezer.start()

    def speed_up(self):
        if self.freezer:
            self.freezer.stop()
        self.freezer = None

    def unmount(self):
        if self.is_mounted:
            self.speed_up()
            self.allow_writing()
            run("umount", "--lazy", self.folder, check=False)
            self.is_mounted = False


class Freezer(threading.Thread):
    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.stopped = folder, threading.Event()

    def run(self):
        while not self.stopped.is_set():
            if run("fsfreeze", "--freeze", self.folder, check=False):
                self.stopped.wait(FROZEN)
                until("the disk works again", lambda: run("fsfreeze", "--unfreeze", self.folder, check=False))
            self.stopped.wait(THAWED)

    def stop(self):
        self.stopped.set()
        self.join()


def run(*command, check=True):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise OSError(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.returncode == 0


class Clock:
    """The clock of one node, whose offset is in a file."""

    def __init__(self, folder, library):
        self.file, self.library = Path(folder) / "clock", library
        self.file.write_bytes(bytes(8))

    @staticmethod
    def build(folder):
        """The library that makes clocks jump, and why there is none."""
        library, source = Path(folder) / "clock.so", Path(__file__).with_name("clock.c")
        if not shutil.which("cc"):
            return None, "there is no C compiler (apt install gcc libc6-dev)"
        if not run("cc", "-shared", "-fPIC", "-O2", "-o", library, source, check=False):
            return None, "clock.c does not compile here"
        return library, None

    def environment(self):
        return {"LD_PRELOAD": str(self.library), "CAMPAIGN_CLOCK": str(self.file)}

    def set(self, seconds):
        """In place, because the node has the file mapped."""
        with open(self.file, "r+b") as file:
            file.write(struct.pack("q", seconds))


class Faults:
    """Draws faults from a seed and lets them happen."""

    def __init__(self, chance, installation, takes_all):
        self.chance, self.installation, self.takes_all = chance, installation, takes_all
        self.counts, self.kills, self.repeats, self.findings = {}, 0, 0, []
        self.kinds = 2 * self.usual() + self.further() if takes_all else self.usual()

    def usual(self):
        return [self.kill, self.kill, self.kill, self.pause, self.pause, self.cut, self.silence, self.delay]

    def further(self):
        kinds = []
        if self.installation.disks:
            kinds += [self.full_disk, self.read_only_disk, self.slow_disk]
        if self.installation.clocks:
            kinds += [self.clock_jump]
        if self.installation.standby:
            kinds += [self.promote]
        return kinds

    def run(self, goes_on, trials):
        """`trials` are faults that look at their consequences themselves; each is alone."""
        while goes_on():
            time.sleep(self.chance.uniform(*BETWEEN))
            drawn = self.chance.choice(self.kinds + trials)
            if drawn in trials:
                self.attempt(drawn)
            else:
                self.happen(drawn)
            for ended in self.installation.ended_by_themselves():
                self.note(ended)
                self.findings.append(ended)

    def attempt(self, trial):
        kind = trial.__name__.replace("_", " ")
        self.count(kind)
        self.note(f"strikes: {kind}")
        self.findings += trial()
        self.note(f"mended: {kind}")

    def happen(self, drawn):
        faults = [drawn()]
        # Two at once, where they concern different parts.
        if self.takes_all and faults[0].part is not None and self.chance.random() < 0.25:
            second = self.chance.choice(self.kinds)()
            if second.part not in (None, faults[0].part):
                faults.append(second)
        for fault in faults:
            self.count(fault.kind)
            self.kills += fault.kills
            self.repeats += fault.repeats
            self.note(f"strikes: {fault.kind}")
            fault.strike()
            time.sleep(self.chance.uniform(*fault.lasts))
        for fault in sorted(faults, key=lambda fault: fault.order):
            fault.mend()
            self.note(f"mended: {fault.kind}")

    def note(self, words):
        """Beside the logs of the nodes, to find out what caused what."""
        with open(self.installation.scratch / "faults.log", "a") as log:
            print(datetime.now(timezone.utc).isoformat(), words, file=log)

    def count(self, kind):
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def kill(self):
        """Nodes are killed as often as everything else together."""
        site = self.installation
        part = self.chance.choice(site.nodes if self.chance.random() < 0.5 else site.mortal())
        return Fault(f"kill {site.kind_of(part)}", part, lambda: site.kill(part), lambda: site.start(part),
                     site.order_of(part), repeats=site.is_in_way_of_mail(part), kills=True, lasts=AWAY)

    def pause(self):
        site = self.installation
        part = self.chance.choice(site.parts())
        return Fault(f"pause {site.kind_of(part)}", part, lambda: site.signal(part, signal.SIGSTOP),
                     lambda: site.signal(part, signal.SIGCONT), site.order_of(part),
                     repeats=site.is_in_way_of_mail(part))

    def cut(self):
        return self.network("cut", lambda link: link.cut())

    def silence(self):
        return self.network("silence", lambda link: link.silence())

    def delay(self):
        seconds = self.chance.uniform(*DELAY)
        return self.network("delay", lambda link: link.slow_down(seconds))

    def network(self, kind, strike):
        link = self.chance.choice(self.installation.links)
        return Fault(f"{kind} {link.name}", link, lambda: strike(link), link.mend, NETWORK,
                     repeats=link.name in ("node–relay", "node–database", "standby–primary"))

    def full_disk(self):
        return self.disk("full disk", Disk.fill, Disk.empty)

    def read_only_disk(self):
        return self.disk("read-only disk", Disk.forbid_writing, Disk.allow_writing)

    def slow_disk(self):
        return self.disk("slow disk", Disk.slow_down, Disk.speed_up)

    def disk(self, kind, strike, mend):
        disk = self.chance.choice(self.installation.disks)
        def repair():
            mend(disk)
            self.installation.start_ended_servers()
            self.installation.start_broken_nodes()
        return Fault(f"{kind} of {disk.name}", disk, lambda: strike(disk), repair, DISK,
                     repeats=disk.name == "the database")

    def clock_jump(self):
        """One clock goes wrong by less than a lease, or all by more."""
        clocks = self.installation.clocks
        if len(clocks) > 1 and self.chance.random() < 0.5:
            clocks, seconds = [self.chance.choice(clocks)], self.chance.randint(-SKEW, SKEW)
        else:
            seconds = self.chance.randint(-JUMP, JUMP)
        def set_all(offset):
            for clock in clocks:
                clock.set(offset)
        return Fault("clock jump", "clocks", lambda: set_all(seconds), lambda: set_all(0), CLOCK, repeats=True)

    def promote(self):
        """The primary is killed for good, the standby takes over and gets a standby of its own."""
        site = self.installation
        return Fault("failover", None, site.fail_over, site.renew_standby, DATABASE, repeats=True, kills=True)

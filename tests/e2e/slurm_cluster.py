"""A Slurm of one node, made of Debian's slurmctld, slurmd and munged in a folder of its own, for tests."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = {"slurmctld": "slurmctld", "slurmd": "slurmd", "munged": "munge", "sbatch": "slurm-client"}
# Debian has daemons where a user's PATH may not look.
PATH = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"

CONFIGURATION = """ClusterName=weft
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MaxArraySize={most_tasks}
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
KillWait=2
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=weft Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """What is not there to make a cluster of; "": nothing."""
    packages = [package for program, package in PROGRAMS.items() if shutil.which(program, path=PATH) is None]
    if packages:
        return "not installed: " + ", ".join(packages)
    return "" if os.geteuid() == 0 else "slurmd runs tasks as root only"


def free_ports(number):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """Running from start() to stop(); commands with `environment` are its users'."""

    def __init__(self, folder, most_tasks, cpus=2):
        self.folder = Path(folder)
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.daemons = []
        host = socket.gethostname().split(".")[0]
        controller_port, node_port = free_ports(2)
        for each in "state", "spool":
            (self.folder / each).mkdir()
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, folder=self.folder, controller_port=controller_port, node_port=node_port, most_tasks=most_tasks,
            cpus=cpus))
        (self.folder / "munge.key").write_bytes(os.urandom(1024))
        (self.folder / "munge.key").chmod(0o400)

    def start(self):
        self.folder.chmod(0o755)
        self.daemon("munged", "--foreground", "--force", *(f"--{what}-file={self.folder}/munge.{what}"
                                                           for what in ("key", "pid", "log", "seed")),
                    f"--socket={self.folder}/munge.socket")
        self.until(lambda: (self.folder / "munge.socket").exists(), "munged")
        for name in "slurmctld", "slurmd":
            self.daemon(name, "-D", "-f", str(self.folder / "slurm.conf"))
        self.until(lambda: self.command("sinfo", "--noheader", "--format=%T").stdout.strip() == "idle", "the node")

    def daemon(self, name, *words):
        with open(self.folder / (name + ".out"), "w") as output:
            self.daemons.append(subprocess.Popen([shutil.which(name, path=PATH), *words], stdout=output, stderr=output,
                                                 stdin=subprocess.DEVNULL, env=self.environment))

    def command(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True)

    def until(self, there, what, limit_s=60):
        """Waits; raises with what the daemons said if it does not come."""
        end = time.monotonic() + limit_s
        while not there():
            ended = [each.args[0] for each in self.daemons if each.poll() is not None]
            if ended or time.monotonic() > end:
                said = "".join(file.read_text(errors="replace")[-3000:] for file in sorted(self.folder.glob("*.out")))
                raise AssertionError(f"no {what}; ended: {ended}\n{said}")
            time.sleep(0.1)

    def empty_queue(self):
        self.command("scancel", "--user=root")
        end = time.monotonic() + 20
        while self.command("squeue", "--noheader").stdout.strip() and time.monotonic() < end:
            time.sleep(0.1)

    def stop(self):
        """Tasks first, so that none outlives the daemons."""
        if len(self.daemons) == 3 and all(each.poll() is None for each in self.daemons):
            self.empty_queue()
        for each in reversed(self.daemons):
            each.terminate()
        for each in reversed(self.daemons):
            try:
                each.wait(20)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()

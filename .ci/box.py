"""A PC with systemd, to try the packages and docs/install.md on, and what the trials say."""
import glob, json, os, pathlib, re, shlex, signal, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
DATA = "/var/lib/firefighters"
DB = DATA + "/firefighters.db"
begun = time.time()


class Wrong(Exception):
    pass


def say(what):
    print(f"ok  {time.time() - begun:5.1f} s  {what}", flush=True)


def need(condition, what, *details):
    if not condition:
        raise Wrong("\n".join([what, *(str(d) for d in details)]))


class Box:
    """A PC with systemd, one administrator and the service."""

    def __init__(self, folder):
        self.folder, self.url, self.key = folder, "http://127.0.0.1:8080", ""
        self.container("start")

    def container(self, do, *arguments, **options):
        return subprocess.run([HERE / "container", do, self.folder, *arguments], check=True, **options)

    def put(self, file):
        """Lays a file of this machine into the box."""
        name = "/trial/" + os.path.basename(file)
        (pathlib.Path(self.folder) / "files" / os.path.basename(file)).write_bytes(pathlib.Path(file).read_bytes())
        return name

    def run(self, line, code=0, user="root", stdin=""):
        """Runs a line of sh, and returns all that it prints. code None is any."""
        command = ["runuser", "-u", user, "--", "sh", "-c", line] if user != "root" else ["sh", "-c", line]
        done = subprocess.run([HERE / "container", "run", self.folder, *command], input=stdin, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        need(code is None or done.returncode == code, f"{line}: exit {done.returncode}, not {code}", done.stdout)
        return done.stdout

    def as_ana(self, line, code=0):
        return self.run("cd; " + line, code, user="ana")

    def typed(self, line, answers="", code=0):
        """Runs a line at a terminal where somebody types the answers."""
        return self.run(f"script --quiet --return --command {shlex.quote(line)} /dev/null", code, stdin=answers)

    def unit(self, name):
        """A property that systemd has of the service."""
        return self.run(f"systemctl show firefighters --property {name} --value").strip()

    def eventually(self, what, condition, seconds=30):
        until = time.time() + seconds
        while not condition():
            need(time.time() < until, f"not within {seconds} seconds: {what}", self.log())
            time.sleep(0.1)

    def log(self):
        return self.run("journalctl -u firefighters --no-pager -n 30; systemctl status firefighters --no-pager", None)

    def request(self, path, *options, code="200"):
        """Sends a request to the service, and returns the body of the answer."""
        line = ["curl", "-sS", "-H", f"Authorization: Bearer {self.key}", "-w", "\n%{http_code}", *options, self.url + path]
        body, _, got = self.run(shlex.join(line)).rpartition("\n")
        need(code in (got, None), f"{path}: {got}, not {code}", body)
        return body

    def add(self, name):
        self.request("/api/v1/firefighters", "--json", json.dumps({"firstName": "Ana", "lastName": name}), code="201")

    def people(self):
        answer = json.loads(self.request("/api/v1/firefighters?pageSize=100&sortBy=lastName&sortDir=asc"))
        return [p["lastName"] for p in answer["data"]["items"]]

    def is_active(self, wanted="active"):
        return self.run("systemctl is-active firefighters", None).strip() == wanted

    def has(self, names, when):
        """Makes sure that the service runs and that its records are those."""
        self.eventually(f"{when} the service runs", self.is_active)
        need(self.people() == names, f"{when} the records are {self.people()}, not {names}")

    def make_key(self):
        self.key = re.search(r"ff_\w+", self.as_ana("sudo firefighters keys create --tenant default --label trial")).group()

    def signs_in(self, out):
        """Signs in by the link that a command has printed."""
        link = re.search(r"(http://127\.0\.0\.1:8080)/office/sign-in#code=(\S+)", out)
        need(link, "open prints no link", out)
        page = self.run(f"curl -sS -L -c /tmp/cookies -H 'Origin: {link[1]}' --data key={link[2]} {link[1]}/office/sign-in")
        need("<h1" in page and "sign-out" in page, "the link does not sign in", page)

    def private(self):
        """Everything in the folder of the data is of the service alone."""
        need(self.run(f"stat -c '%a %U %G' {DATA}") == "700 firefighters firefighters\n", "the rights of the folder", self.run(f"ls -la {DATA}"))
        strange = self.run(f"find {DATA} ! -user firefighters -o ! -group firefighters -o -perm /077 ! -name ca.crt")
        need(strange == "", "files with other owners or rights", self.run(f"ls -laR {DATA}"))

    def version(self):
        return json.loads(self.run("firefighters service status --json"))["version"]

    def forget(self):
        """Takes everything of the service away, so that the next trial finds nothing of it."""
        self.run(f"rm -rf {DATA} /etc/systemd/system/firefighters.service.d")


def on_a_pc(what, trial):
    """Calls trial with a PC that has booted. Where there can be none, it says NOT RUN."""
    ready = subprocess.run([HERE / "container", "ready"], capture_output=True, text=True)
    if ready.returncode:
        return print(f"NOT RUN: {what}, because no container can be booted here: {ready.stderr.strip()}")
    os.umask(0o022)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the container goes, too
    with tempfile.TemporaryDirectory(prefix="firefighters-trial.", dir="/var/tmp") as work:
        box = Box(work + "/box")
        try:
            box.run("useradd --create-home --shell /bin/sh ana; echo 'ana ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/ana")
            say("a PC with systemd has booted")
            trial(box)
        finally:
            box.container("remove")


def deb(folder):
    return glob.glob(f"{folder}/firefighters_*_amd64.deb")[0]


def archive(folder):
    return glob.glob(f"{folder}/firefighters_*_linux_amd64.tar.gz")[0]


def version_of(folder):
    return os.path.basename(deb(folder)).split("_")[1]


def install(box, package):
    """Installs as apt does at a terminal, with nobody there who could answer."""
    out = box.typed(f"DEBIAN_FRONTEND=readline DEBIAN_PRIORITY=low dpkg -i {package} </dev/null")
    need("?" not in out, "the installation asks", out)
    return out

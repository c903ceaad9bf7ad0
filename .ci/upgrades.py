"""Trials of .ci/packages: databases of every schema that ever was, and the way back."""
import json, os, re, subprocess

from box import DATA, DB, HERE, install, need, say

TESTDATA = HERE.parent / "acceptance" / "testdata"
# The keys of acceptance/testdata/v1.db, and so on.
KEYS = {int(version): key for version, key in re.findall(r'^\t(\d+): "(ff_\w+)",$', (TESTDATA.parent / "upgrade_test.go").read_text(), re.M)}
LAST = max(KEYS)  # the schema version before this one


def old_program(folder):
    """Builds the last program of the schema version before this one; empty if its commit is not there."""
    git = ["git", "-C", HERE.parent]
    found = subprocess.run([*git, "log", "--format=%H", "-S", f"const schemaVersion = {LAST}", "--", "db.go"], capture_output=True, text=True).stdout.split()
    if len(found) != 2:
        return ""
    source, program = f"{folder}/source", f"{folder}/old-firefighters"
    os.mkdir(source)
    tar = subprocess.run([*git, "archive", found[0] + "^"], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", source], input=tar, check=True)
    subprocess.run(["go", "build", "-buildvcs=false", "-o", program, "."], cwd=source, check=True, env={**os.environ, "CGO_ENABLED": "0"})
    return program


def lay_down(box, version):
    """Makes the folder of the data one of an older program."""
    box.run(f"systemctl stop firefighters 2>/dev/null; rm -rf {DATA}/*; install -d -m 700 {DATA}; install -m 600 {box.put(TESTDATA / f'v{version}.db')} {DB};"
            f" if getent passwd firefighters >/dev/null; then chown -R firefighters: {DATA}; fi", None)
    box.key = KEYS[version]


def serves(box, version):
    box.eventually("the service runs", box.is_active)
    got = box.request("/api/v1/firefighters?pageSize=100&sortBy=lastName&sortDir=asc")
    need(got == (TESTDATA / f"v{version}.json").read_text(), f"the records of schema version {version} are others after the upgrade", got)
    copies = box.run(f"ls {DB}.before-upgrade-*").split()
    need(len(copies) == 1, "the copy from before the upgrade", copies)
    box.private()
    return copies[0]


def try_schemas(box, new, by_hand, program):
    box.url = "http://127.0.0.1:8080"
    for version in KEYS:
        lay_down(box, version)
        install(box, new)
        copy = serves(box, version)
        if version < LAST:
            box.run("DEBIAN_FRONTEND=noninteractive dpkg -P firefighters")
    say(f"databases of the schema versions 1 to {LAST}: upgraded by the package, a copy lies beside, every record is as it was")
    try_way_back(box, copy, program)
    box.run("DEBIAN_FRONTEND=noninteractive dpkg -P firefighters")
    box.as_ana(f"rm -rf download; mkdir download; tar -xzf {by_hand} -C download")
    for version in KEYS:
        box.forget()
        lay_down(box, version)
        box.as_ana("cd download; sudo ./firefighters service install")
        serves(box, version)
        box.as_ana("sudo firefighters service uninstall")
    box.forget()
    say("the same by hand")


def try_way_back(box, copy, program):
    """The new version disappoints: restore with it, then install the old one."""
    if not program:
        return print(f"NOT RUN: back to a program of schema version {LAST}, because its commit is not in this clone")
    old = box.put(program)
    box.run(f"chmod 755 {old}")
    box.add("After-the-upgrade")
    box.run("sudo firefighters service stop")
    serve = f"runuser -u firefighters -- {old} serve --db {DB} --listen 127.0.0.1:8092"
    out = box.run("timeout 20 " + serve, 1)
    need("newer" in out, "the old program does not refuse the upgraded database", out)
    box.run(f"sudo firefighters restore {copy} --db {DB}")
    box.private()
    box.run(f"systemd-run --quiet --unit old-firefighters {serve}")
    box.url = "http://127.0.0.1:8092"
    box.eventually("the old program serves", lambda: "ready" in box.run(f"curl -s {box.url}/readyz", None))
    got = box.request("/api/v1/firefighters?pageSize=100&sortBy=lastName&sortDir=asc")
    need(got == (TESTDATA / f"v{LAST}.json").read_text(), "the old program has other records", got)
    box.run("systemctl stop old-firefighters; sudo firefighters service start")
    box.url = "http://127.0.0.1:8080"
    box.has([p["lastName"] for p in json.loads(got)["data"]["items"]], "and forward again")
    say(f"back: a program of schema version {LAST} refuses the upgraded database, and serves the restored copy; and forward again")

"""Syncs an address book with Akonadi, which keeps the people of KAddressBook:

    akonadi.py FOLDER URL KEY-FILE PEOPLE BIRTHDAYS    until the copy has the people
    akonadi.py FOLDER URL KEY-FILE --refused LOG       until the LOG says that it was refused

The first time it makes a resource for URL, where the resource finds the address book. The
password is in a wallet of KDE, so that nobody is asked. It writes the cards that Akonadi
has to FOLDER/copy/cards.vcf. It needs a bus, as dbus-run-session starts one.
"""
import os, pathlib, sqlite3, subprocess, sys, time

sys.dont_write_bytecode = True
from compare import differences

folder, url, key, people = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]).read_text().strip(), sys.argv[4]
config, data = pathlib.Path(os.environ["XDG_CONFIG_HOME"]), pathlib.Path(os.environ["XDG_DATA_HOME"])
RESOURCE = "akonadi_davgroupware_resource"
ME = RESOURCE + "_0"  # its first instance


def call(*arguments):
    done = subprocess.run(["busctl", "--user", "--json=short", "call", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else ""


def wallet(method, *arguments):
    return call("org.kde.kwalletd5", "/modules/kwalletd5", "org.kde.KWallet", method, *arguments)


def manager(method, *arguments):
    return call("org.freedesktop.Akonadi.Control", "/AgentManager", "org.freedesktop.Akonadi.AgentManager", method, *arguments)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def names():
    """The names on the bus, without those that would be started by a call."""
    return subprocess.run(["busctl", "--user", "--acquired", "list"], capture_output=True, text=True).stdout


def set_up():
    write(config / "akonadi/akonadiserverrc", "[%General]\nDriver=QSQLITE3\n")
    write(config / f"{ME}rc", f"[General]\ndefaultUsername=phone\ndisplayName=People\nremoteUrls=$default$|CardDav|{url}/\nsettingsVersion=3\n")
    write(config / "kwalletrc", f"[Wallet]\nEnabled=true\nFirst Use=false\nDefault Wallet=kdewallet\nPrompt on Open=false\nClose When Idle=false\n[Auto Allow]\nkdewallet={RESOURCE},{ME},trial\n")


def open_wallet():
    """Opens the wallet as the sign-in to a desktop does, so that it asks for no password."""
    wallet("pamOpen", "sayi", "kdewallet", 56, *range(56), 0)
    handle = wallet("open", "sxs", "kdewallet", 0, "trial").rpartition("[")[2].partition("]")[0]
    if int(handle or -1) < 0:
        sys.exit("akonadi: the wallet does not open")
    wallet("createFolder", "iss", handle, "Passwords", "trial")
    wallet("writePassword", "issss", handle, "Passwords", ME + ",$default$", key, "trial")


def stored():
    """Writes the cards that Akonadi has, and returns whether it lets nobody change them."""
    database = sqlite3.connect(f"file:{data}/akonadi/akonadi.db?mode=ro", uri=True, timeout=30)
    cards = [bytes(row[0]) if isinstance(row[0], bytes) else row[0].encode() for row in database.execute(
        "SELECT p.data FROM parttable p JOIN pimitemtable i ON p.pimitemid = i.id JOIN collectiontable c ON i.collectionid = c.id WHERE c.remoteid LIKE '%/dav/books/people/'")]
    (folder / "copy" / "cards.vcf").write_bytes(b"".join(cards))
    return database.execute("SELECT count(*) FROM collectionattributetable a JOIN collectiontable c ON a.collectionid = c.id"
                            " WHERE c.remoteid LIKE '%/dav/books/people/' AND CAST(a.type AS TEXT) = 'AccessRights' AND coalesce(CAST(a.value AS TEXT), '') = ''").fetchone()[0] == 1


def until(what, holds):
    end = time.monotonic() + 90
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"akonadi: {what()}")
        time.sleep(0.3)


first = not (config / f"{ME}rc").exists()
if first:
    set_up()
open_wallet()
control = subprocess.Popen(["akonadi_control"])
try:
    until(lambda: "it does not start", lambda: "org.freedesktop.Akonadi.Control " in names() and RESOURCE in manager("agentTypes"))
    if first:
        manager("createAgentInstance", "s", RESOURCE)
    until(lambda: "the resource does not start", lambda: ME in manager("agentInstances") and '[0]' in manager("agentInstanceStatus", "s", ME))
    manager("agentInstanceSynchronize", "s", ME)
    if people == "--refused":
        until(lambda: "it is not refused", lambda: "Invalid username/password (401)" in pathlib.Path(sys.argv[5]).read_text())
        stored()
    else:
        birthdays = sys.argv[5:] == ["--birthdays"]
        until(lambda: "\n".join(differences(folder / "copy", people, birthdays)), lambda: (stored(), not differences(folder / "copy", people, birthdays))[1])
        if not stored():
            sys.exit("akonadi takes the book for one that it may write")
finally:
    subprocess.run(["akonadictl", "stop"], capture_output=True)
    control.wait(60)

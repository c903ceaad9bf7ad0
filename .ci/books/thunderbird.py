"""Syncs an address book with Thunderbird, without a window:

    thunderbird.py FOLDER URL KEY-FILE

FOLDER/profile is its profile. The first time it finds the address book from URL as a user
lets it, who types the address, "phone" and the password. It writes the cards that it has
to FOLDER/copy/cards.vcf, and fails if the sync fails. It speaks to Thunderbird by
Marionette, the protocol of its own tests.
"""
import json, pathlib, socket, subprocess, sys, time

# What runs in Thunderbird before each script.
BEFORE = """
const { MailServices } = ChromeUtils.importESModule("resource:///modules/MailServices.sys.mjs");
const { CardDAVDirectory } = ChromeUtils.importESModule("resource:///modules/CardDAVDirectory.sys.mjs");
const { setTimeout } = ChromeUtils.importESModule("resource://gre/modules/Timer.sys.mjs");
const { CardDAVUtils } = ChromeUtils.importESModule("resource:///modules/CardDAVUtils.sys.mjs");
const [url, key] = arguments, done = arguments[arguments.length - 1];
const book = () => MailServices.ab.directories.find((directory) => directory.dirType == 102); // 102: CardDAV
"""
FIND = """
const books = await CardDAVUtils.detectAddressBooks("phone", key, url);
const made = books.map((one) => one.create());
const kept = () => Services.logins.searchLoginsAsync({ origin: new URL(url).origin });
for (let tries = 0; !made.every((one) => one._syncToken) || !(await kept()).length; tries++) {
  if (tries == 300) throw new Error("it does not get the cards, or does not keep the password");
  await new Promise((next) => setTimeout(next, 100));
}
return books.map((one) => one.name);
"""
SYNC = """
let failed = "";
const own = CardDAVDirectory.forFile(book().fileName);
const sync = () => own.syncWithServer().catch((error) => { failed = String(error); });
await sync();
if (!own._syncToken) await sync(); // its token was taken away: it compares everything at the next look
return { failed, readOnly: book().readOnly, cards: book().childCards.map((card) => card.getProperty("_vCard", "")) };
"""


class Thunderbird:
    def __init__(self, folder):
        profile = folder / "profile"
        active = profile / "MarionetteActivePort"
        active.unlink(missing_ok=True)
        command = ["thunderbird", "--headless", "--marionette", "-remote-allow-system-access", "--no-remote", "--profile", profile]
        until = time.monotonic() + 120
        self.process = None
        while not active.exists() or not active.read_text():
            if time.monotonic() > until:
                sys.exit("thunderbird does not start")
            if not self.process or self.process.poll() is not None:  # it ends at once while the one before still has the profile
                self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.5)
        self.stream = socket.create_connection(("127.0.0.1", int(active.read_text())), timeout=120).makefile("rwb")
        self.receive()
        self.send("WebDriver:NewSession", {})
        self.send("Marionette:SetContext", {"value": "chrome"})

    def receive(self):
        length = b""
        while not length.endswith(b":"):
            byte = self.stream.read(1)
            if not byte:
                sys.exit("thunderbird ended")
            length += byte
        return json.loads(self.stream.read(int(length[:-1])))

    def send(self, command, parameters):
        message = json.dumps([0, 1, command, parameters]).encode()
        self.stream.write(b"%d:%b" % (len(message), message))
        self.stream.flush()
        _, _, error, result = self.receive()
        if error:
            sys.exit(f"thunderbird: {error}")
        return result

    def run(self, script, *arguments):
        script = BEFORE + "(async () => {" + script + "})().then((value) => done({ value }), (error) => done({ error: `${error}` }));"
        got = self.send("WebDriver:ExecuteAsyncScript", {"script": script, "args": arguments, "scriptTimeout": 60000, "sandbox": "system"})["value"]
        if "error" in got:
            sys.exit("thunderbird: " + got["error"])
        return got["value"]


folder, url, key = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]).read_text().strip()
thunderbird = Thunderbird(folder)
try:
    if not (folder / "found").exists():
        books = thunderbird.run(FIND, url, key)
        if books != ["default"]:
            sys.exit(f"thunderbird finds {books}")
        (folder / "found").touch()
    got = thunderbird.run(SYNC)
    (folder / "copy" / "cards.vcf").write_text("".join(got["cards"]), encoding="utf-8")
    if not got["readOnly"]:
        sys.exit("thunderbird takes the book for one that it may write")
    if got["failed"]:
        sys.exit(f"thunderbird: the sync fails: {got['failed']}")
finally:
    thunderbird.send("Marionette:Quit", {"flags": ["eForceQuit"]})
    thunderbird.process.wait(60)

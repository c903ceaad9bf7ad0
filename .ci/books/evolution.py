"""Syncs an address book with Evolution's data server, as Evolution does:

    evolution.py FOLDER URL KEY-FILE PEOPLE BIRTHDAYS    until the copy has the people
    evolution.py FOLDER URL KEY-FILE --refused           until it wants another password

The first time it finds the address book from URL. It writes the cards that it has to
FOLDER/copy/cards.vcf. It needs a bus, as dbus-run-session starts one.
"""
import pathlib, sys, threading, time

sys.dont_write_bytecode = True
import gi

gi.require_version("EDataServer", "1.2")
gi.require_version("EBook", "1.2")
gi.require_version("EBookContacts", "1.2")
from gi.repository import EBook, EBookContacts, EDataServer, GLib

from compare import differences

folder, url, key, people = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]).read_text().strip(), sys.argv[4]
uri = GLib.Uri.parse(url, GLib.UriFlags.NONE)
credentials = EDataServer.NamedParameters.new()
credentials.set("username", "phone")
credentials.set("password", key)
reasons = []


def new_source(path):
    source = EDataServer.Source.new_with_uid("people", None)
    source.set_display_name("People")
    login = source.get_extension(EDataServer.SOURCE_EXTENSION_AUTHENTICATION)
    login.set_host(uri.get_host())
    login.set_port(uri.get_port())
    login.set_user("phone")
    login.set_method("plain/password")
    source.get_extension(EDataServer.SOURCE_EXTENSION_SECURITY).set_secure(True)
    source.get_extension(EDataServer.SOURCE_EXTENSION_WEBDAV_BACKEND).set_resource_path(path)
    source.get_extension(EDataServer.SOURCE_EXTENSION_ADDRESS_BOOK).set_backend_name("carddav")
    source.get_extension(EDataServer.SOURCE_EXTENSION_OFFLINE).set_stay_synchronized(True)
    return source


def find():
    """Returns a source of the one address book that is found from the bare host."""
    source = new_source("/")
    found = EDataServer.webdav_discover_sources_sync(source, url, EDataServer.WebDAVDiscoverSupports.CONTACTS, credentials, None).out_discovered_sources
    if [book.display_name for book in found] != ["default"]:
        sys.exit(f"evolution finds {[book.href for book in found]}")
    source.get_extension(EDataServer.SOURCE_EXTENSION_WEBDAV_BACKEND).set_resource_path(GLib.Uri.parse(found[0].href, GLib.UriFlags.NONE).get_path())
    return source


def answer(_, source, reason, *__):
    """Types the password when it is asked for, and not again once it was refused."""
    reasons.append(reason)
    if reason == EDataServer.SourceCredentialsReason.REQUIRED:
        source.invoke_authenticate_sync(credentials, None)


registry = EDataServer.SourceRegistry.new_sync(None)
if registry.ref_source("people") is None:
    registry.commit_source_sync(find(), None)
registry.connect("credentials-required", answer)
threading.Thread(target=GLib.MainLoop().run, daemon=True).start()
client = EBook.BookClient.connect_sync(registry.ref_source("people"), 30, None)
until = time.monotonic() + 60
wrong = ["nothing yet"]
while wrong:
    if time.monotonic() > until:
        sys.exit("\n".join(["evolution:", *wrong]))
    time.sleep(0.2)
    cards = client.get_contacts_sync("", None)[1]
    (folder / "copy" / "cards.vcf").write_text("\r\n".join(card.to_string(EBookContacts.VCardFormat(1)) for card in cards) + "\r\n", encoding="utf-8")
    if people == "--refused":
        wrong = [] if EDataServer.SourceCredentialsReason.REJECTED in reasons else ["its password is not refused"]
    else:
        wrong = differences(folder / "copy", people, sys.argv[5:] == ["--birthdays"])
        if wrong:
            client.refresh_sync(None)
if people != "--refused" and not client.is_readonly():
    sys.exit("evolution takes the book for one that it may write")

"""Compares the cards in a folder with people in JSON lines: compare.py COPY PEOPLE

It reads the cards with vobject, the library of vdirsyncer and khard.
"""
import json, pathlib, re, sys

import vobject


def of_card(card):
    """Returns the values of a card: (UID, first name, last name, whole name, phone, e-mail, date of birth)."""
    def value(name):
        return str(getattr(getattr(card, name, None), "value", ""))
    return (value("uid"), card.n.value.given, card.n.value.family, value("fn"), value("tel"), value("email"), re.sub(r"\D", "", value("bday")))


def dialled(phone):
    """Returns the only number in a text as the address book sends it."""
    return re.sub(r"^00", "+", re.sub(r"[^\d+]", "", phone))


def of_record(record):
    first, last = record["firstName"], record["lastName"]
    return (record["id"], first, last, f"{first} {last}", dialled(record["phoneNumber"] or ""), record["email"] or "",
            re.sub(r"\D", "", (record["dateOfBirth"] or "")[:10]))


cards = sorted(of_card(vobject.readOne(file.read_text(encoding="utf-8"))) for file in pathlib.Path(sys.argv[1]).rglob("*.vcf"))
people = sorted(of_record(json.loads(line)) for line in pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines())
if cards != people:
    sys.exit("\n".join([f"missing: {one}" for one in people if one not in cards] + [f"not on the list: {one}" for one in cards if one not in people] +
                       [f"{len(cards)} cards, {len(people)} people"]))

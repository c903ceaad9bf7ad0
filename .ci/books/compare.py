"""Compares the cards in a folder or a file with people in JSON lines.

    compare.py COPY PEOPLE [--birthdays]

Another reader of cards than ours reads them: vobject, which vdirsyncer and khard use.
"""
import json, pathlib, re, sys

import vobject


def of_card(card):
    """What a card says: (UID, first name, last name, whole name, phone, e-mail, date of birth)."""
    def value(name):
        return str(getattr(getattr(card, name, None), "value", ""))
    return (value("uid"), card.n.value.given, card.n.value.family, value("fn"), value("tel"), value("email"), re.sub(r"\D", "", value("bday")))


def of_record(record, birthdays):
    first, last = record["firstName"], record["lastName"]
    born = record["dateOfBirth"] or ""
    return (record["id"], first, last, f"{first} {last}", record["phoneNumber"] or "", record["email"] or "",
            re.sub(r"\D", "", born[:10]) if birthdays else "")


def differences(copy, people, birthdays):
    """The differences between a copy and the people, in lines."""
    copy = pathlib.Path(copy)
    files = [file for file in copy.rglob("*") if file.is_file()] if copy.is_dir() else [copy]
    cards = sorted(of_card(card) for file in files for card in vobject.readComponents(file.read_text(encoding="utf-8")))
    wanted = [of_record(json.loads(line), birthdays) for line in pathlib.Path(people).read_text(encoding="utf-8").splitlines()]
    wanted.sort()
    if cards == wanted:
        return []
    return ([f"missing: {person}" for person in wanted if person not in cards] + [f"not on the list: {card}" for card in cards if card not in wanted] +
            [f"{len(cards)} cards, {len(wanted)} people"])


if __name__ == "__main__":
    found = differences(sys.argv[1], sys.argv[2], "--birthdays" in sys.argv)
    if found:
        sys.exit("\n".join(found))

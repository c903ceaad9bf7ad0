package sheet

import (
	"bytes"
	"strings"
	"unicode"
)

// sniffed is how much of a file is searched for words that say what it is.
const sniffed = 4 << 10

// endOfFile stands at the end of some texts of DOS.
const endOfFile = '\x1A'

func isZip(content []byte) bool {
	return bytes.HasPrefix(content, []byte("PK\x03\x04")) || bytes.HasPrefix(content, []byte("PK\x05\x06"))
}

// sniffBytes returns the code of a file that is known by its bytes and cannot be
// read, and otherwise an empty text.
func sniffBytes(content []byte) string {
	head := bytes.TrimLeft(content[:min(len(content), sniffed)], bomUTF8+" \t\r\n")
	switch {
	case bytes.HasPrefix(content, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")):
		return sniffCompound(content)
	case len(content) > 1 && content[0] == 9 && bytes.IndexByte([]byte{2, 4, 8}, content[1]) >= 0:
		return FileOldExcel // before Excel 97, without a compound file around it
	case bytes.HasPrefix(head, []byte("%PDF")):
		return FilePDF
	case bytes.HasPrefix(head, []byte(`{\rtf`)), bytes.HasPrefix(head, []byte("\x1F\x8B")), bytes.HasPrefix(head, []byte("\xFF\xD8\xFF")):
		return FileBinary
	}
	return ""
}

// sniffZip returns the code of an archive that is known by the names in it and
// cannot be read, and otherwise an empty text.
func sniffZip(content []byte) string {
	has := func(name string) bool { return bytes.Contains(content, []byte(name)) }
	switch {
	case bytes.Contains(content[:min(len(content), sniffed)], []byte("application/vnd.oasis.opendocument.spreadsheet")):
		return FileODS
	case has("Index/Document.iwa"), has("index.apxl"):
		return FileNumbers
	case has("xl/workbook.bin"):
		return FileXLSB
	}
	return ""
}

// sniffCompound returns the code of an OLE compound file. Its streams are named in
// UTF-16.
func sniffCompound(content []byte) string {
	has := func(stream string) bool {
		return bytes.Contains(content, []byte(strings.Join(strings.Split(stream, ""), "\x00")+"\x00"))
	}
	switch {
	case has("EncryptedPackage"):
		return FileEncrypted
	case has("Workbook"), has("Book"):
		return FileOldExcel
	}
	return FileBinary
}

// sniffText returns the code of a text that is no list, and otherwise an empty
// text.
func sniffText(text string) string {
	text = strings.TrimLeftFunc(text, isBlank)
	head := strings.ToLower(text[:min(len(text), sniffed)])
	switch {
	case text == "":
		return FileEmpty
	case isBinary(text):
		return FileBinary
	case strings.HasPrefix(head, "<?xml") && !containsAny(head, "<!doctype html", "<html"):
		return FileXML // which can have a <Table>, too
	case strings.HasPrefix(head, "<") && containsAny(head, "<!doctype html", "<html", "<table", "<body"),
		strings.HasPrefix(head, "mime-version:"):
		return FileHTML
	}
	return ""
}

func containsAny(text string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// isBinary reports whether a text has many control characters, at its beginning or
// in all. A few stand in cells of lists, where a record refuses them.
func isBinary(text string) bool {
	controls, all := 0, 0
	many := func() bool { return controls > 3 && controls*20 > all }
	for i, r := range text {
		if i >= sniffed && all <= sniffed && many() {
			return true
		}
		if all++; r < ' ' && r != endOfFile && !unicode.IsSpace(r) {
			controls++
		}
	}
	return many()
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }

func isVCard(text string) bool {
	const begin = "BEGIN:VCARD"
	text = strings.TrimLeftFunc(text, isBlank)
	return len(text) >= len(begin) && strings.EqualFold(text[:len(begin)], begin)
}

// isJSON reports whether a text begins as an object of JSON, or as an array of
// objects.
func isJSON(text string) bool {
	text = strings.TrimLeftFunc(text, isBlank)
	object, array := strings.CutPrefix(text, "[")
	object = strings.TrimLeftFunc(object, isBlank)
	member, ok := strings.CutPrefix(object, "{")
	member = strings.TrimLeftFunc(member, isBlank)
	return ok && (array || strings.HasPrefix(member, `"`) || strings.HasPrefix(member, "}"))
}

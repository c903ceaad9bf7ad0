package managers

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// This file is about Windows alone. It is compiled on every system, so that its tests run
// on every system.

// On Windows the service has this name, also in its account and its shortcut, and this
// title.
const (
	windowsName  = "Firefighters"
	windowsTitle = "Firefighter Records Service"
)

// Rights to files on Windows.
const (
	fullControl = 0x1f01ff // FILE_ALL_ACCESS
	modify      = 0x1301bf // read, write and delete, but not permit
)

// serviceSID returns the SID of a service of Windows, as a string. Windows
// computes it from the name alone, so permissions can name a service that is not
// there yet.
func serviceSID(name string) string {
	units := utf16.Encode([]rune(strings.ToUpper(name)))
	text := make([]byte, 0, 2*len(units))
	for _, unit := range units {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	sum := sha1.Sum(text)
	sid := "S-1-5-80" // SECURITY_SERVICE_ID_BASE_RID
	for part := sum[:]; len(part) > 0; part = part[4:] {
		sid += fmt.Sprintf("-%d", binary.LittleEndian.Uint32(part))
	}
	return sid
}

// dataPermissions returns the security descriptor, in SDDL, of a folder that
// belongs to a service alone. The administrators own it. It inherits nothing, and
// what is in it inherits from it: SYSTEM and the administrators may do
// everything, and the service all but give rights away.
func dataPermissions(name string) string { return permissions(name, "PAI", "OICI") }

// inheritedPermissions returns the security descriptor of a file or folder in a folder
// with dataPermissions.
func inheritedPermissions(name string, folder bool) string {
	if folder {
		return permissions(name, "ARAI", "OICIID")
	}
	return permissions(name, "ARAI", "ID")
}

func permissions(name, flags, inheritance string) string {
	sddl := "O:BAG:BAD:" + flags
	for _, entry := range []struct {
		who    string
		rights int
	}{{"SY", fullControl}, {"BA", fullControl}, {serviceSID(name), modify}} {
		sddl += fmt.Sprintf("(A;%s;%#x;;;%s)", inheritance, entry.rights, entry.who)
	}
	return sddl
}

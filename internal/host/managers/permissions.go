package managers

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// This file is only for Windows. It is compiled on every system so that its tests run
// everywhere.

// The name of the service on Windows, also used for its account and shortcut, and its title.
const (
	windowsName  = "Firefighters"
	windowsTitle = "Firefighter Records Service"
)

// Windows access masks for files.
const (
	fullControl = 0x1f01ff // FILE_ALL_ACCESS
	modify      = 0x1301bf // read, write and delete; without WRITE_DAC and WRITE_OWNER
)

// serviceSID returns the SID of a Windows service. Windows derives it from the name only, so
// permissions can refer to a service that does not exist yet.
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

// dataPermissions returns the security descriptor (SDDL) of a service's private folder. The
// administrators own it. SYSTEM and the administrators have full control, the service may
// modify. The folder inherits nothing; its content inherits these permissions.
func dataPermissions(name string) string { return permissions(name, "PAI", "OICI") }

// inheritedPermissions returns the security descriptor of a file or folder inside a folder
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

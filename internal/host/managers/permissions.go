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

// The security descriptors (SDDL) of the data folder, and of the folders and files inside it. The
// administrators own them. SYSTEM and the administrators have full control, the service may modify.
// The data folder inherits nothing; its content inherits these permissions.
var (
	dataPermissions   = permissions("PAI", "OICI")
	folderPermissions = permissions("ARAI", "OICIID")
	filePermissions   = permissions("ARAI", "ID")
)

func permissions(flags, inheritance string) string {
	return fmt.Sprintf("O:BAG:BAD:%[1]s(A;%[2]s;%#[3]x;;;SY)(A;%[2]s;%#[3]x;;;BA)(A;%[2]s;%#[4]x;;;%[5]s)",
		flags, inheritance, fullControl, modify, serviceSID(windowsName))
}

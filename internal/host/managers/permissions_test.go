package managers

import (
	"strings"
	"testing"
)

// TestServiceSID compares with SIDs that are the same on every Windows.
func TestServiceSID(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"TrustedInstaller": "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
		"trustedinstaller": "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
		"WdiServiceHost":   "S-1-5-80-3139157870-2983391045-3678747466-658725712-1809340420",
	} {
		if got := serviceSID(name); got != want {
			t.Errorf("serviceSID(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestDataPermissions(t *testing.T) {
	t.Parallel()
	const want = "O:BAG:BAD:PAI(A;OICI;0x1f01ff;;;SY)(A;OICI;0x1f01ff;;;BA)(A;OICI;0x1301bf;;;"
	got := dataPermissions
	if got != want+serviceSID("FIREFIGHTERS")+")" || strings.Count(got, "(") != 3 {
		t.Errorf("got %s", got)
	}
	inherited := strings.NewReplacer("PAI", "ARAI", "OICI", "OICIID").Replace(got)
	if folderPermissions != inherited {
		t.Errorf("an inner folder has %s", folderPermissions)
	}
	if filePermissions != strings.ReplaceAll(inherited, "OICI", "") {
		t.Errorf("an inner file has %s", filePermissions)
	}
	for right, bit := range map[string]int{"WRITE_DAC": 0x40000, "WRITE_OWNER": 0x80000} {
		if modify&bit != 0 {
			t.Errorf("the service has the right %s", right)
		}
	}
}

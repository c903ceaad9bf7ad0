package manage

import (
	"fmt"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const backupKeyHelp = `Usage: firefighters backup-key [flags]

Makes a pair of keys for encrypted backups, and prints it. The recipient, age1…,
encrypts and is no secret: the service has it. The secret key decrypts. It belongs
on paper in the safe, and not on this PC. Nothing keeps it: without it nobody can
read the backups.

  firefighters backup-key
  firefighters backup-key --output /mnt/usb/key.txt
  firefighters service install --backup-encrypt-to age1…

What is printed can be read as an identity file: firefighters restore --identity.
The program age reads it as well.

Flags:
`

func (c Commands) backupKey(env cli.Env, args []string) error {
	flags := env.Flags("backup-key", backupKeyHelp)
	out := flags.StringP("output", "o", "", "write the keys to this new `file`, for nobody else to read, and print the recipient alone")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	secret, recipient, err := backup.NewKey()
	if err != nil {
		return err
	}
	keys := []string{
		"# The key of encrypted backups of Firefighter Records, of " + time.Now().UTC().Format(time.DateOnly) + ".",
		"# The recipient, for --backup-encrypt-to, is no secret:",
		"#",
		"# " + recipient,
		"#",
		"# The secret key opens the backups. It belongs in the safe, and not on the PC.",
		"",
		secret,
	}
	if *out == "" {
		err := env.Println(strings.Join(append(keys, ""), "\n"))
		if err == nil {
			err = env.PrintQR("# ", secret, true)
		}
		if err != nil {
			return err
		}
		env.Notef("This is shown only now. Print it twice, or write it down. Try: firefighters serve --backup-encrypt-to %s", recipient)
		return nil
	}
	if err := osutil.WriteFile(*out, []byte(strings.Join(keys, "\n")+"\n"), false); err != nil {
		return fmt.Errorf("writing %s: %w", cli.Quote(*out), err)
	}
	if err := env.Println(recipient); err != nil {
		return err
	}
	env.Notef("The secret key is in %s. Take it away from this PC, and keep a second copy on paper.", cli.Quote(*out))
	return nil
}

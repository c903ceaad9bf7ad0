package manage

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func backupKeyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "backup-key",
		Short:   "Create a key pair for encrypted backups",
		GroupID: cli.GroupBackup,
		Long: `Create a key pair for encrypted backups and print it.

The recipient, age1…, encrypts backups and is not secret. The secret key decrypts
them. Keep it on paper in the safe, not on this computer: it is stored nowhere
else, and without it no one can read the backups.

The output is an identity file of age, for restore --identity.`,
		Example: `  firefighters backup-key
  firefighters backup-key --output /mnt/usb/key.txt
  firefighters service install --backup-encrypt-to age1…`,
	}
	output := cmd.Flags().StringP("output", "o", "", "write the keys to this new `file`, readable only by you, and print only the recipient")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return createBackupKey(cli.EnvOf(cmd), *output) }
	return cmd
}

func createBackupKey(env cli.Env, output string) error {
	secret, recipient, err := backup.NewKey()
	if err != nil {
		return err
	}
	keys := strings.Join([]string{
		"# The key of encrypted backups of Firefighter Records, of " + time.Now().UTC().Format(time.DateOnly) + ".",
		"# The recipient, for --backup-encrypt-to, is not secret:",
		"#",
		"# " + recipient,
		"#",
		"# The secret key decrypts the backups. Keep it in the safe, not on a computer.",
		"",
		secret,
		"",
	}, "\n")
	if output != "" {
		if err := writeSecret(output, keys); err != nil {
			return err
		}
		env.Notef("The secret key is in %s. Take it away from this computer, and keep a second copy on paper.", cli.Quote(output))
		return env.Println(recipient)
	}
	if err := env.Println(keys); err != nil {
		return err
	}
	if err := env.PrintQR("# ", secret, true); err != nil {
		return err
	}
	env.Notef("This is shown only once. Print it twice, or write it down. Try: firefighters serve --backup-encrypt-to %s", recipient)
	return nil
}

// writeSecret writes a new file that only its owner can read.
func writeSecret(path, text string) error {
	if err := checkSecret(path); err != nil {
		return err
	}
	if err := osutil.WriteFile(path, []byte(text), false); err != nil {
		return fmt.Errorf("writing %s: %w", osutil.InQuotes(path), err)
	}
	return nil
}

// checkSecret returns the error of writeSecret if the file exists or its folder is missing.
func checkSecret(path string) error {
	switch {
	case osutil.Exists(path):
		return fmt.Errorf("%s already exists", osutil.InQuotes(path))
	case !osutil.Exists(filepath.Dir(path)):
		return fmt.Errorf("the folder of %s does not exist", osutil.InQuotes(path))
	}
	return nil
}

package database

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// Recipients is the value of --backup-encrypt-to. It does not store an invalid value, which may be a
// secret key that must not appear in messages.
type Recipients struct {
	To    backup.Recipients
	fault error
}

// AddFlag adds the flag.
func (r *Recipients) AddFlag(cmd *cobra.Command) {
	cmd.Flags().Var(r, recipientsFlag, "encrypt to this `recipient` (see firefighters backup-key); can be repeated")
}

const recipientsFlag = "backup-encrypt-to"

// Check returns a usage error if a value of the flag is not a recipient.
func (r *Recipients) Check(*cobra.Command) error {
	switch {
	case r.fault == nil:
		return nil
	case errors.Is(r.fault, backup.ErrSecret):
		return cli.Usage(fmt.Sprintf("--%s: %v", recipientsFlag, r.fault),
			"use the recipient printed with it, age1…; remove the secret key from your shell history, or create another: firefighters backup-key")
	}
	return cli.Usage(fmt.Sprintf("--%s: %v", recipientsFlag, r.fault), "to create a key and its recipient: firefighters backup-key")
}

// Set adds recipients. An empty text removes all.
func (r *Recipients) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return r.Replace(nil)
	}
	return r.Append(text)
}

// Append implements pflag.SliceValue.
func (r *Recipients) Append(text string) error {
	added, err := backup.ParseRecipients(strings.Split(text, ","))
	if err != nil {
		r.fault = err
	}
	r.To = append(r.To, added...)
	return nil
}

// Replace implements pflag.SliceValue.
func (r *Recipients) Replace(texts []string) error {
	*r = Recipients{fault: r.fault}
	for _, text := range texts {
		r.Append(text)
	}
	return nil
}

// GetSlice implements pflag.SliceValue.
func (r *Recipients) GetSlice() (texts []string) {
	for _, recipient := range r.To {
		texts = append(texts, recipient.String())
	}
	return texts
}

func (r *Recipients) String() string { return strings.Join(r.GetSlice(), ",") }

// Type implements pflag.Value.
func (r *Recipients) Type() string { return "recipients" }

// CountPlain returns a text such as "2 unencrypted backups".
func CountPlain(n int) string { return cli.Count(n, "unencrypted backup", "unencrypted backups") }

// WarnOfPlain warns of unencrypted backups in a folder with encrypted ones.
func WarnOfPlain(env cli.Env, db, dir string) {
	plain := backup.PlainIn(db, dir)
	if len(plain) == 0 {
		return
	}
	env.Warn(fmt.Sprintf("everyone who can open %s can read %s, the newest %s", cli.Quote(dir), CountPlain(len(plain)), plain[0].Name()),
		fmt.Sprintf("firefighters backup delete-plain --db %s --backup-dir %s", cli.Quote(db), cli.Quote(dir)))
}

// IdentityFlag adds the flag --identity and returns its value, for ReadIdentity.
func IdentityFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("identity", "", "`file` with the secret key of an encrypted backup; - for standard input")
}

const maxIdentity = 1 << 20

// ReadIdentity reads the secret key for --identity. It returns nil if file is empty.
func ReadIdentity(env cli.Env, file string) (backup.Key, error) {
	if file == "" {
		return nil, nil
	}
	source := env.Stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("--identity cannot be read: %w", err)
		}
		defer opened.Close()
		source = opened
	}
	key, err := backup.ReadKey(io.LimitReader(source, maxIdentity))
	if err != nil {
		return nil, fmt.Errorf("--identity %s: %w", cli.Quote(file), err)
	}
	return key, nil
}

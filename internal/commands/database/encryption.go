package database

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// Recipients is the value of --backup-encrypt-to. It keeps no text that is not a
// recipient: it may be a secret key, which no message must repeat.
type Recipients struct {
	To    backup.Recipients
	fault error
}

// AddFlag adds the flag.
func (r *Recipients) AddFlag(flags *pflag.FlagSet) {
	flags.Var(r, recipientsFlag, "encrypt them to this `recipient`, as age1..., which firefighters backup-key makes; may be repeated")
}

const recipientsFlag = "backup-encrypt-to"

// Check returns a usage error if something else than a recipient was given.
func (r *Recipients) Check(flags *pflag.FlagSet) error {
	if r.fault == nil {
		return nil
	}
	what := flags.Name() + ": --" + recipientsFlag + ": " + r.fault.Error()
	if errors.Is(r.fault, backup.ErrSecret) {
		return cli.Usage(what, "the recipient that was printed with it, age1…; take the secret key out of the history of this shell, or make another: firefighters backup-key")
	}
	return cli.Usage(what, "to have one: firefighters backup-key")
}

// Set adds recipients, as each time that the flag is given. Empty stands for none.
func (r *Recipients) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return r.Replace(nil)
	}
	return r.Append(text)
}

// Append is for pflag.SliceValue.
func (r *Recipients) Append(text string) error {
	added, err := backup.ParseRecipients(strings.Split(text, ","))
	if err != nil {
		r.fault = err
	}
	r.To = append(r.To, added...)
	return nil
}

// Replace is for pflag.SliceValue.
func (r *Recipients) Replace(texts []string) error {
	*r = Recipients{fault: r.fault}
	for _, text := range texts {
		r.Append(text)
	}
	return nil
}

// GetSlice is for pflag.SliceValue.
func (r *Recipients) GetSlice() (texts []string) {
	for _, recipient := range r.To {
		texts = append(texts, recipient.String())
	}
	return texts
}

func (r *Recipients) String() string { return strings.Join(r.GetSlice(), ",") }

// Type is for pflag.Value.
func (r *Recipients) Type() string { return "recipients" }

// IdentityFlag adds the flag --identity, for ReadIdentity.
func IdentityFlag(flags *pflag.FlagSet) *string {
	return flags.String("identity", "", "the `file` with the secret key that opens an encrypted backup; - is standard input")
}

// maxIdentity is how long a file with secret keys may be.
const maxIdentity = 1 << 20

// ReadIdentity reads the key in the file that --identity names. It is none without a file.
func ReadIdentity(env cli.Env, file string) (backup.Key, error) {
	if file == "" {
		return nil, nil
	}
	source := env.Stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, cli.WithHint(fmt.Errorf("--identity cannot be read: %w", err), "name the file with the secret key from the safe")
		}
		defer opened.Close()
		source = opened
	}
	key, err := backup.ReadKey(io.LimitReader(source, maxIdentity))
	if err != nil {
		return nil, cli.WithHint(errors.New("--identity "+cli.Quote(file)+": "+err.Error()), "a file with the secret key from the safe on a line of its own")
	}
	return key, nil
}

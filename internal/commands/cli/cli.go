// Package cli provides what commands of a terminal share: flags that may stand
// in the environment, help, usage errors and hints, tables, progress bars,
// questions, and the forms of times, sizes and file names.
package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
)

// Env is the environment of a command. Results go to Stdout, and everything
// else to Stderr.
type Env struct {
	Context        context.Context // ends when the command must stop
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// ServiceDB returns the database of the service that is installed on this PC,
	// empty if there is none. It may be nil.
	ServiceDB func() string

	commands   []Command    // of the program, once Dispatch has run
	describing *description // notes what the command says of itself; see Describe
}

// Println writes a line of the result.
func (env Env) Println(line string) error {
	_, err := fmt.Fprintln(env.Stdout, line)
	return err
}

// Announce writes a line to Stdout that is no result: a command can go on
// without it.
func (env Env) Announce(line string) error {
	stdout := env.Stdout
	if out, ok := stdout.(*output); ok {
		stdout = out.Writer // which Run does not watch
	}
	_, err := fmt.Fprintln(stdout, line)
	return err
}

// Data returns Stdout for a file, which goes to another program byte for byte. A
// terminal gets what can be read of it.
func (env Env) Data() io.Writer {
	if out, ok := env.Stdout.(*output); ok && !env.ToTerminal() {
		return data{out}
	}
	return env.Stdout
}

// Notef writes a line that is no result.
func (env Env) Notef(format string, args ...any) {
	fmt.Fprintf(env.Stderr, format+"\n", args...)
}

// Run runs a command. What it prints changes no terminal. A result that could not
// be written is an error, also if the command overlooks it.
func Run(env Env, args []string, command func(env Env, args []string) error) error {
	result, notes := &text{Writer: env.Stdout}, &text{Writer: env.Stderr}
	out := &output{Writer: result}
	env.Stdout, env.Stderr = out, notes
	err := command(env, args)
	notes.flush()
	out.err = cmp.Or(out.err, result.flush())
	if out.err != nil {
		return fmt.Errorf("writing the result: %w", out.err)
	}
	return err
}

// output remembers the first error in writing.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) { return o.write(o.Writer, b) }

func (o *output) write(w io.Writer, b []byte) (int, error) {
	n, err := w.Write(b)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// data is an output without the text around its stream.
type data struct{ *output }

func (d data) Write(b []byte) (int, error) { return d.write(Stream(d.Writer), b) }

package manual

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

const completionHelp = `Usage: firefighters completion bash|zsh

Prints a script for a shell. With it the Tab key completes commands, flags,
files, and the values of some flags. The packages for Debian have it already.

  firefighters completion bash >~/.local/share/bash-completion/completions/firefighters
  firefighters completion zsh >~/.zsh/completions/_firefighters

The folders must exist. Open a new shell after that.

bash without the package bash-completion: add this line to ~/.bashrc.

  eval "$(firefighters completion bash)"

zsh: add these lines to ~/.zshrc.

  fpath=(~/.zsh/completions $fpath)
  autoload -U compinit && compinit
`

// scripts are templates, one for each shell.
//
//go:embed scripts
var scripts embed.FS

func (c Commands) completion(env cli.Env, args []string) error {
	flags := env.Flags("completion", completionHelp)
	shell, err := env.ParseOne(flags, args, "say for which shell: bash or zsh")
	if err != nil {
		return err
	}
	script, err := scripts.ReadFile("scripts/" + shell)
	if err != nil || strings.Contains(shell, "/") {
		return cli.Wrong(flags, fmt.Sprintf("the shell must be bash or zsh, not %q", shell))
	}
	return c.complete(env, string(script))
}

// complete fills the template of a shell.
func (c Commands) complete(env cli.Env, script string) error {
	filled, err := template.New("").Funcs(template.FuncMap{
		"sh": quoteShell, "zsh": zshEscape, "zshFlag": zshFlag, "zshArgument": zshArgument,
		"offers": offers, "join": strings.Join, "last": last, "typed": typed, "words": words, "spellings": spellings,
	}).Parse(script)
	if err != nil {
		return err
	}
	return filled.Execute(env.Stdout, c.places())
}

// places returns a description for each place where a command line can be: after
// the program's name, and after each command. Each has the flags for help.
func (c Commands) places() []cli.Description {
	program := c.Program()
	all := program.Describe()
	all[0].Flags = []cli.Flag{{Name: "version", Short: "v", Usage: "prints the version"}}
	for _, d := range all[1:] {
		if d.Name == program.Default {
			all[0].Flags = append(all[0].Flags, d.Flags...)
		}
	}
	for i := range all {
		all[i].Flags = append(all[i].Flags, cli.Flag{Name: "help", Short: "h", Usage: "says more"})
	}
	return all
}

// last returns the last word of a command.
func last(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }

// spellings returns a flag as it can be typed.
func spellings(f cli.Flag) []string {
	if f.Short == "" {
		return []string{"--" + f.Name}
	}
	return []string{"--" + f.Name, "-" + f.Short}
}

// typed returns the flags of a command, as they can be typed.
func typed(d cli.Description) (all []string) {
	for _, f := range d.Flags {
		all = append(all, spellings(f)...)
	}
	return all
}

// words returns the subcommands and the arguments that a command names.
func words(d cli.Description) (all []string) {
	for _, sub := range d.Sub {
		all = append(all, last(sub.Name))
	}
	for _, v := range d.Arguments {
		all = append(all, v.Choices...)
	}
	return all
}

// offers reports whether one of the arguments of a command names such a thing.
func offers(d cli.Description, name string) bool {
	return slices.ContainsFunc(d.Arguments, func(v cli.Value) bool { return v.Name == name })
}

// quoteShell quotes a text for bash and zsh.
func quoteShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// zshFlag returns what _arguments of zsh is told of a flag, quoted.
func zshFlag(f cli.Flag) string {
	names := []string{"--" + f.Name}
	if f.Short != "" {
		names = append(names, "-"+f.Short)
	}
	var all []string
	for _, name := range names {
		spec := ""
		switch {
		case f.Repeats:
			spec = "*"
		case f.Name == "help" || f.Name == "version":
			spec = "(- *)"
		case len(names) > 1:
			spec = "(" + strings.Join(names, " ") + ")"
		}
		spec += name
		switch {
		case f.Value.Name == "":
		case strings.HasPrefix(name, "--"):
			spec += "="
		default:
			spec += "+"
		}
		spec += "[" + zshEscape(f.Usage) + "]"
		if f.Value.Name != "" {
			spec += ":" + zshValue(f.Value)
		}
		all = append(all, quoteShell(spec))
	}
	return strings.Join(all, " ")
}

// zshArgument returns what _arguments is told of the argument with a number.
func zshArgument(i int, v cli.Value) string {
	return quoteShell(fmt.Sprintf("%d:%s", i+1, zshValue(v)))
}

func zshValue(v cli.Value) string {
	switch {
	case v.Choices != nil:
		return zshEscape(cmp.Or(v.Name, "word")) + ":(" + strings.Join(v.Choices, " ") + ")"
	case v.Name == "file":
		return "file:_files"
	case v.Name == "folder":
		return "folder:_files -/"
	}
	return zshEscape(v.Name) + ": "
}

// zshEscape escapes what has a meaning in a text of _arguments and _describe.
func zshEscape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `:`, `\:`).Replace(text)
}

// Package manual prints what the commands say of themselves in other forms: the
// manual page, and scripts by which shells complete a command line. It knows no
// command and no flag by name.
package manual

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// Commands are the commands of this package, and the program that they are about and
// a part of.
type Commands struct{ Program func() cli.Program }

// Table returns the table of the commands.
func (c Commands) Table() []cli.Command {
	return []cli.Command{
		{Name: "completion", Also: "complete bash zsh", Summary: "prints a script that completes commands in a shell", Run: c.completion},
		{Name: "man", Also: "manual", Summary: "prints the manual page", Run: c.man},
	}
}

const manHelp = `Usage: firefighters man

Prints the manual page firefighters(1), in the format of man(7). It is made from
the help of all commands.

  firefighters man | man -l -
  firefighters man >/usr/local/share/man/man1/firefighters.1
`

func (c Commands) man(env cli.Env, args []string) error {
	if err := env.Parse(env.Flags("man", manHelp), args, 0); err != nil {
		return err
	}
	_, err := io.WriteString(env.Stdout, newPage(cli.ReadBuild(), c.Program()).String())
	return err
}

// page is a manual page that is being written, in the format of man(7).
type page struct {
	strings.Builder
	begun bool // something stands in the section
}

// newPage returns the page for a build of the program.
func newPage(build cli.Build, program cli.Program) *page {
	p, commands := &page{}, program.Describe()[1:]
	day, _, _ := strings.Cut(cmp.Or(build.Date, written), "T")
	fmt.Fprintf(p, ".TH FIREFIGHTERS 1 %s %s %s\n", day, argument("firefighters "+build.Version), argument("User Commands"))
	p.line(".nr HY 0\n.nh\n.ad l") // no command is hyphenated
	usage, blocks := split(program.Help)
	p.section("NAME")
	summary, _, _ := strings.Cut(blocks[0].text(), ". ")
	p.line(`firefighters \- ` + escape(strings.ToLower(summary[:1])+strings.TrimSuffix(summary[1:], ".")))
	p.section("SYNOPSIS")
	p.usage(append(usage, "firefighters COMMAND --help"))
	p.section("DESCRIPTION")
	p.blocks(blocks)
	p.section("COMMANDS")
	p.commands(commands)
	p.section("ENVIRONMENT")
	p.environment(commands)
	p.WriteString(ending)
	p.section("EXAMPLES")
	_, blocks = split("\n\n" + examples)
	p.blocks(blocks)
	p.section("SEE ALSO")
	p.line(".UR " + escape(documents) + "\nThe documents of the project\n.UE :")
	p.line("installing, operations, all commands, the page for people, and the API.")
	return p
}

// written is when the texts in this file were written. It is the date of a page
// if nobody knows that of the commit.
const written = "2026-11-22"

// ending has the sections for which the help of no command has a text.
const ending = `.SH FILES
.TP
.I firefighters.db
The database, in the current folder.
Its companions with
.IR \-wal ,
.I \-shm
and
.I \-lock
at the end of their names belong to it while it is served.
.TP
.I firefighters\-tls
Beside the database, what
.B \-\-tls\-self\-signed
has made: the authority, the certificate, and
.I ca.crt
for other machines.
.TP
.I /var/lib/firefighters
The database, the settings
.RI ( service.conf )
and the backups of the service of this machine.
On macOS it is
.IR "/Library/Application Support/Firefighters" ,
and on Windows
.IR %ProgramData%\eFirefighters .
.TP
.I /etc/systemd/system/firefighters.service.d/settings.conf
What the settings of the service change in its unit.
.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
A failure.
Standard error says what is wrong and, where it helps, what to type.
.TP
.B 2
Wrong usage.
`

const examples = `Serve invented people, to try the program:

  firefighters demo

Serve from now on, also after a power cut, with backups on another disk, and open
the page in the browser:

  sudo firefighters service install
  sudo firefighters service backup-disk /dev/sdb1
  sudo firefighters open

Let somebody in, and make a key for a program:

  firefighters invite --tenant "Engine 7" --name "Ana Čović"
  firefighters keys create --tenant "Engine 7" --label roster --scope read

See what a spreadsheet would change, import it, and write it again:

  firefighters import people.xlsx --tenant "Engine 7"
  firefighters import people.xlsx --tenant "Engine 7" --apply
  firefighters export --tenant "Engine 7" --output people.xlsx

Save the database, and bring the copy back, with the service stopped:

  firefighters backup /mnt/usb/monday.db
  firefighters restore /mnt/usb/monday.db
`

// documents is where the documents of the project are.
const documents = "https://github.com/firefighter-records/firefighters"

func (p *page) line(text string) {
	p.WriteString(text + "\n")
	p.begun = true
}

func (p *page) section(name string) {
	p.line(".SH " + argument(name))
	p.begun = false
}

// usage writes command lines, each on a line of its own.
func (p *page) usage(lines []string) {
	p.line(".nf")
	for _, line := range lines {
		p.line(protect(`\fB` + escape("firefighters") + `\fR` + escape(strings.TrimPrefix(line, "firefighters"))))
	}
	p.line(".fi")
}

func (p *page) commands(commands []cli.Description) {
	for _, d := range commands {
		if d.Help == "" {
			continue
		}
		usage, blocks := split(d.Help)
		p.line(".SS " + argument("firefighters "+d.Name))
		p.usage(usage)
		p.blocks(blocks)
		for _, f := range d.Flags {
			p.flag(f)
		}
	}
}

func (p *page) blocks(blocks []block) {
	for _, b := range blocks {
		if p.begun {
			p.line(".PP")
		}
		if b.literal {
			p.line(".RS 4\n.EX")
		}
		for _, line := range b.lines {
			p.line(protect(escape(strings.TrimPrefix(line, "  "))))
		}
		if b.literal {
			p.line(".EE\n.RE")
		}
	}
}

func (p *page) flag(f cli.Flag) {
	head := `\fB` + escape("--"+f.Name) + `\fR`
	if f.Short != "" {
		head = `\fB` + escape("-"+f.Short) + `\fR, ` + head
	}
	if f.Value.Name != "" {
		head += ` \fI` + escape(f.Value.Name) + `\fR`
	}
	p.line(".TP\n" + head)
	text := f.Usage
	if f.Default != "" {
		text += " (default " + f.Default + ")"
	}
	p.line(protect(escape(text)))
}

// mostCommands is how many commands of a variable are named one by one.
const mostCommands = 15

// environment writes the variables of all flags, with the commands that have them.
func (p *page) environment(commands []cli.Description) {
	p.line("A flag on the command line takes precedence. An empty variable counts as absent.")
	flags, users := map[string]string{}, map[string][]string{}
	for _, d := range commands {
		for _, f := range d.Flags {
			if f.Variable != "" {
				flags[f.Variable] = "--" + f.Name
				users[f.Variable] = append(users[f.Variable], d.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		p.line(".TP\n.B " + escape(name))
		who := strings.Join(users[name], ", ")
		if len(users[name]) > mostCommands {
			who = "nearly all commands"
		}
		p.line(protect(escape(flags[name] + " of " + who + ".")))
	}
}

// block is a paragraph of a help, or some lines that stand as they are.
type block struct {
	lines   []string
	literal bool
}

func (b block) text() string { return strings.Join(b.lines, " ") }

// split returns the usage lines of a help, and what comes after them. A list of
// subcommands and where to read more are left out: they follow on the page.
func split(help string) (usage []string, blocks []block) {
	head, rest, _ := strings.Cut(help, "\n\n")
	for line := range strings.Lines(head) {
		usage = append(usage, strings.TrimSpace(strings.TrimPrefix(line, "Usage: ")))
	}
	for part := range strings.SplitSeq(rest, "\n\n") {
		part = strings.Trim(part, "\n")
		if part == "" || strings.HasPrefix(part, "Commands:\n") || strings.HasPrefix(part, "Each has more to say") {
			continue
		}
		blocks = appendLines(blocks, part)
	}
	return usage, blocks
}

// appendLines adds a part of a help: its indented lines are literal.
func appendLines(blocks []block, part string) []block {
	var b block
	for line := range strings.SplitSeq(part, "\n") {
		if literal := strings.HasPrefix(line, "  "); literal != b.literal && b.lines != nil {
			blocks, b = append(blocks, b), block{}
		}
		b.literal = strings.HasPrefix(line, "  ")
		b.lines = append(b.lines, line)
	}
	return append(blocks, b)
}

// meanings are the characters of ASCII that mean something to roff.
var meanings = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

// escape returns a text as roff has it, in ASCII.
func escape(text string) string {
	var out strings.Builder
	for _, r := range meanings.Replace(text) {
		switch {
		case r > '~':
			fmt.Fprintf(&out, `\[u%04X]`, r)
		case r < ' ':
			out.WriteByte(' ')
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// protect keeps a line that begins with a dot from being a request.
func protect(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}

// argument returns a text as an argument of a request.
func argument(text string) string { return `"` + escape(text) + `"` }

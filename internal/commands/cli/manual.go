package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ManualCommand returns the command man. Packages contain its output.
func ManualCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man",
		Short:   "Print the manual page",
		Long:    "Print the manual page of all commands, in the format of man(7).",
		Example: "  firefighters man | man -l -",
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), manualPage(cmd.Root(), ReadBuild()))
			return err
		},
	}
}

// undated is the date of the manual page of a build without a commit.
const undated = "2026-11-26"

func manualPage(root *cobra.Command, build Build) string {
	var page strings.Builder
	day, _, _ := strings.Cut(cmp.Or(build.Date, undated), "T")
	fmt.Fprintf(&page, ".TH FIREFIGHTERS 1 %s \"firefighters %s\" \"User Commands\"\n.nh\n.ad l\n", day, roff(build.Version))
	fmt.Fprintf(&page, ".SH NAME\nfirefighters \\- %s\n", roff(root.Short))
	page.WriteString(".SH SYNOPSIS\n.B firefighters\n[\\fIcommand\\fR] [\\fIflags\\fR]\n")
	page.WriteString(".SH DESCRIPTION\n" + paragraphs(root.Long) + examples(root.Example))
	page.WriteString(".SH COMMANDS\n")
	forEach(root, func(cmd *cobra.Command) {
		if cmd.RunE == nil || cmd == root || !cmd.IsAvailableCommand() || cmd.Annotations[group] != "" {
			return
		}
		fmt.Fprintf(&page, ".SS %s\n%s", roff(cmd.UseLine()), paragraphs(cmp.Or(cmd.Long, cmd.Short+".")))
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				page.WriteString(manualFlag(f))
			}
		})
		page.WriteString(examples(cmd.Example))
	})
	page.WriteString(`.SH EXIT STATUS
0 for success, 1 for a failure, 2 for a usage error.
.SH FILES
.TP
.I firefighters.db
The database in the current folder, the default of \-\-db.
.TP
.I /var/lib/firefighters
The database, settings and backups of the installed service.
.SH SEE ALSO
https://github.com/firefighter\-records/firefighters
`)
	return page.String()
}

func manualFlag(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	head := "\\fB" + roff("--"+f.Name) + "\\fR"
	if f.Shorthand != "" {
		head = "\\fB" + roff("-"+f.Shorthand) + "\\fR, " + head
	}
	if value != "" {
		head += " \\fI" + roff(value) + "\\fR"
	}
	return ".TP\n" + head + "\n" + roff(usage) + "\n"
}

// paragraphs formats paragraphs of text. Indented paragraphs are literal.
func paragraphs(text string) string {
	var all strings.Builder
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if strings.HasPrefix(part, "  ") || strings.HasPrefix(part, "\t") {
			all.WriteString(examples(strings.ReplaceAll(part, "\t", "  ")))
		} else {
			all.WriteString(".PP\n" + roff(part) + "\n")
		}
	}
	return strings.TrimPrefix(all.String(), ".PP\n")
}

func examples(lines string) string {
	if lines == "" {
		return ""
	}
	return ".PP\n.RS 4\n.nf\n" + roff(lines) + "\n.fi\n.RE\n"
}

func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.",
		"'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`).Replace(text)
	var ascii strings.Builder
	for _, r := range text {
		if r > '~' {
			fmt.Fprintf(&ascii, `\[u%04X]`, r)
		} else {
			ascii.WriteRune(r)
		}
	}
	return ascii.String()
}

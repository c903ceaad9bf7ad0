package main

import (
	"regexp"
	"strings"
)

var description = regexp.MustCompile(`^( *)description: *(.*)$`)

// descriptions returns the texts of all members named description, as the
// style of docs/openapi.yaml has them: on one line or as a block.
func descriptions(yaml string) (list []string) {
	lines := strings.Split(yaml, "\n")
	for i, line := range lines {
		found := description.FindStringSubmatch(line)
		switch {
		case found == nil:
		case strings.HasPrefix(found[2], "|"), strings.HasPrefix(found[2], ">"):
			list = append(list, block(lines[i+1:], len(found[1])))
		default:
			list = append(list, unquote(found[2]))
		}
	}
	return list
}

// block returns the lines that are indented by more than indent, without that
// indentation.
func block(lines []string, indent int) string {
	var text []string
	for _, line := range lines {
		inner := strings.TrimLeft(line, " ")
		if inner != "" && len(line)-len(inner) <= indent {
			break
		}
		text = append(text, strings.TrimPrefix(line, strings.Repeat(" ", indent+2)))
	}
	return strings.Join(text, "\n")
}

func unquote(value string) string {
	if inner, ok := strings.CutPrefix(value, "'"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, "'"), "''", "'")
	}
	return strings.Trim(value, `"`)
}

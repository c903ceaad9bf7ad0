package main

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	fence    = regexp.MustCompile("^ *(```|~~~)")
	heading  = regexp.MustCompile(`^ {0,3}#{1,6}( |$)`)
	table    = regexp.MustCompile(`^ *\|`)
	listItem = regexp.MustCompile(`^ *([-*+]|\d+[.)]) +`)
	comment  = regexp.MustCompile(`(?s)<!--.*?-->`)
	codeSpan = regexp.MustCompile("`[^`]*`")
	link     = regexp.MustCompile(`\]\([^)\s]*\)`)
)

// paragraphs returns the paragraphs and list items of a Markdown text, each in
// one line. Code blocks, tables, headings and comments are left out.
func paragraphs(text string) (list []string) {
	var lines []string
	inList := false
	end := func() {
		if len(lines) > 0 {
			list = append(list, strings.Join(lines, " "))
		}
		lines = nil
	}
	for _, line := range outsideFences(comment.ReplaceAllString(text, "")) {
		trimmed := strings.TrimSpace(line)
		switch item := listItem.FindString(line); {
		case trimmed == "":
			end()
		case heading.MatchString(line), table.MatchString(line):
			end()
			inList = false
		case indented(line) && len(lines) == 0 && !inList: // a code block
		case item != "":
			end()
			inList = true
			lines = append(lines, line[len(item):])
		default:
			inList = inList && (len(lines) > 0 || line[0] == ' ')
			lines = append(lines, trimmed)
		}
	}
	end()
	return list
}

func indented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// outsideFences returns the lines outside fenced code blocks. In place of a
// block stands one empty line.
func outsideFences(text string) (lines []string) {
	open := ""
	for line := range strings.SplitSeq(text, "\n") {
		mark := fence.FindStringSubmatch(line)
		switch {
		case open == "" && mark == nil:
			lines = append(lines, line)
		case open == "":
			open = mark[1]
			lines = append(lines, "")
		case mark != nil && mark[1] == open:
			open = ""
		}
	}
	return lines
}

func wordsOutsideCode(text string) int {
	return len(strings.Fields(strings.Join(outsideFences(text), "\n")))
}

// sentences splits a paragraph after each full stop, question mark and
// exclamation mark that white space follows. Code spans and link targets end
// no sentence.
func sentences(paragraph string) (list []string) {
	text := link.ReplaceAllString(paragraph, "]")
	rest := []rune(codeSpan.ReplaceAllStringFunc(text, hideStops))
	begin := 0
	for i, c := range rest {
		if strings.ContainsRune(".!?", c) && i+1 < len(rest) && unicode.IsSpace(rest[i+1]) {
			list = append(list, strings.TrimSpace(string(rest[begin:i+1])))
			begin = i + 1
		}
	}
	return append(list, strings.TrimSpace(string(rest[begin:])))
}

// hideStops replaces what would end a sentence.
func hideStops(code string) string {
	return strings.NewReplacer(".", "·", "!", "·", "?", "·").Replace(code)
}

// countWords counts what has a letter or a digit in it.
func countWords(sentence string) (n int) {
	for _, word := range strings.Fields(sentence) {
		if strings.ContainsFunc(word, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
			n++
		}
	}
	return n
}

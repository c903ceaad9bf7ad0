// Sentences checks how long the sentences of the documents are. It prints one
// line for each document and exits with 1 if a document breaks a rule.
//
//	go run ./.ci/sentences README.md CHANGELOG.md docs/*.md docs/openapi.yaml
//
// It counts prose only: no headings, no tables, no code blocks. Of a YAML file
// it counts the descriptions.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxAverage   = 16.0 // words in a sentence
	longSentence = 25   // words that a sentence may have before it is long
	maxLong      = 0.10 // share of long sentences
	maxReadme    = 1500 // words of README.md outside code blocks
)

func main() {
	long := flag.Bool("long", false, "print each sentence of more than 25 words")
	flag.Parse()
	passed, err := check(os.Stdout, flag.Args(), *long)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

// check prints a line for each document and reports whether all pass.
func check(out io.Writer, documents []string, long bool) (passed bool, err error) {
	if len(documents) == 0 {
		return false, fmt.Errorf("name the documents to check")
	}
	fmt.Fprintf(out, "%-20s %9s %9s %9s %9s\n", "document", "sentences", "average", "over 25", "words")
	passed = true
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		r := measure(name, strings.ReplaceAll(string(text), "\r\n", "\n"))
		r.print(out, long)
		passed = passed && len(r.faults()) == 0
	}
	return passed, nil
}

// report is what was counted in a document.
type report struct {
	name  string
	words []int    // of each sentence
	long  []string // sentences
	total int      // words of the whole text outside code blocks, tables included
}

func measure(name, text string) report {
	r := report{name: filepath.ToSlash(filepath.Clean(name))}
	texts := []string{text}
	if strings.HasSuffix(name, ".yaml") {
		texts = descriptions(text)
	}
	for _, text := range texts {
		r.total += wordsOutsideCode(text)
		for _, p := range paragraphs(text) {
			for _, s := range sentences(p) {
				r.add(s)
			}
		}
	}
	return r
}

func (r *report) add(sentence string) {
	n := countWords(sentence)
	if n == 0 {
		return
	}
	r.words = append(r.words, n)
	if n > longSentence {
		r.long = append(r.long, sentence)
	}
}

// average returns the words of a sentence on average, and the share of long
// sentences.
func (r report) average() (words, long float64) {
	if len(r.words) == 0 {
		return 0, 0
	}
	sum := 0
	for _, n := range r.words {
		sum += n
	}
	count := float64(len(r.words))
	return float64(sum) / count, float64(len(r.long)) / count
}

// faults returns the rules that the document breaks.
func (r report) faults() (list []string) {
	average, long := r.average()
	if average > maxAverage {
		list = append(list, fmt.Sprintf("the average is over %.0f words", maxAverage))
	}
	if long > maxLong {
		list = append(list, fmt.Sprintf("more than %.0f%% of the sentences have over %d words", 100*maxLong, longSentence))
	}
	if r.name == "README.md" && r.total > maxReadme {
		list = append(list, fmt.Sprintf("it has over %d words", maxReadme))
	}
	return list
}

// print writes the line of a document, and the long sentences if the document
// fails or long is set.
func (r report) print(out io.Writer, long bool) {
	average, share := r.average()
	faults := r.faults()
	fmt.Fprintf(out, "%-20s %9d %9.1f %8.1f%% %9d  %s\n", r.name, len(r.words), average, 100*share, r.total, strings.Join(faults, "; "))
	if long || len(faults) > 0 {
		for _, s := range r.long {
			fmt.Fprintf(out, "    %d words: %s\n", countWords(s), s)
		}
	}
}

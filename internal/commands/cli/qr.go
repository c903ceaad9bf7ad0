package cli

import (
	"io"
	"strings"

	"rsc.io/qr"
)

// quietZone is the light border of a QR code, in modules.
const quietZone = 4

// PrintQR prints trusted text as a QR code of half blocks, with prefix at the start of each line. On a
// terminal it sets the colors to white on black. Other output is for light text on a dark background,
// or for ink on white paper if paper is set. It prints nothing for a text that is too long.
func (env Env) PrintQR(prefix, text string, paper bool) error {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil
	}
	terminal := IsTerminal(env.Stdout)
	before, after := "", ""
	if terminal {
		before, after = "\x1b[38;5;231;48;5;16m", "\x1b[0m"
	}
	light := terminal || !paper
	halves := map[[2]bool]string{{true, true}: "█", {true, false}: "▀", {false, true}: "▄", {false, false}: " "}
	drawn := func(x, y int) bool { return y < code.Size+quietZone && code.Black(x, y) != light }
	var b strings.Builder
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		b.WriteString(prefix + before)
		for x := -quietZone; x < code.Size+quietZone; x++ {
			b.WriteString(halves[[2]bool{drawn(x, y), drawn(x, y+1)}])
		}
		b.WriteString(after + "\n")
	}
	out := env.Stdout
	if s, ok := out.(*stream); ok {
		out = data{s}
	}
	_, err = io.WriteString(out, b.String())
	return err
}

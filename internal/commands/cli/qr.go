package cli

import (
	"io"
	"strings"

	"rsc.io/qr"
)

// quietZone is how many modules around a QR code stay light.
const quietZone = 4

// QR returns a QR code of half blocks, two modules in the height of a line, empty for a
// text that is too long. colors makes it dark on light on any terminal; without them it is
// right where text is light on dark, as on most.
func QR(text string, colors bool) string {
	before, after := "", ""
	if colors {
		before, after = "\x1b[38;5;231;48;5;16m", "\x1b[0m" // white on black
	}
	return drawQR(text, true, before, after)
}

// QRFor returns a QR code for what is written to out: for a terminal, or for paper, which
// is light.
func QRFor(out io.Writer, text string) string {
	if IsTerminal(out) {
		return QR(text, true)
	}
	return drawQR(text, false, "", "")
}

// drawQR draws the light modules, or the dark ones.
func drawQR(text string, light bool, before, after string) string {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return ""
	}
	drawn := func(x, y int) bool { return y < code.Size+quietZone && code.Black(x, y) != light }
	var lines []string
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		var b strings.Builder
		for x := -quietZone; x < code.Size+quietZone; x++ {
			b.WriteString(map[[2]bool]string{{true, true}: "█", {true, false}: "▀", {false, true}: "▄", {false, false}: " "}[[2]bool{drawn(x, y), drawn(x, y+1)}])
		}
		lines = append(lines, before+b.String()+after)
	}
	return strings.Join(lines, "\n")
}

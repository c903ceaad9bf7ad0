package view

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// quietZone is the width of the white border that scanners require, in modules.
const quietZone = 4

// QRCode returns a black and white SVG of a QR code. label is its accessible name. The SVG is
// empty if the text is too long for a QR code.
func QRCode(text, label string) template.HTML {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return ""
	}
	var rows strings.Builder // one line for each run of black modules
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			if !code.Black(x, y) {
				continue
			}
			from := x
			for code.Black(x+1, y) {
				x++
			}
			fmt.Fprintf(&rows, "M%d %d.5h%d", from+quietZone, y+quietZone, x+1-from)
		}
	}
	size := code.Size + 2*quietZone
	return template.HTML(fmt.Sprintf(`<svg class="qr" role="img" aria-label="%s" viewBox="0 0 %d %d" shape-rendering="crispEdges">`+
		`<path fill="#fff" d="M0 0h%dv%dH0z"></path><path stroke="#000" d="%s"></path></svg>`,
		template.HTMLEscapeString(label), size, size, size, size, &rows))
}

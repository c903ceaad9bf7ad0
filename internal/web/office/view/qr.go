package view

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// quietZone is how many modules around a QR code stay white, so that a camera finds it.
const quietZone = 4

// QRCode returns an SVG of a QR code for a text, black on white on any page. label is what
// people are told who do not see it. The SVG is empty if the text is too long, which no
// link of the page is.
func QRCode(text, label string) template.HTML {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return ""
	}
	var rows strings.Builder // a line of width 1 for each run of black modules
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

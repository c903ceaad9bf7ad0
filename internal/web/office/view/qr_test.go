package view

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"rsc.io/qr"
)

// TestQRCode checks that the SVG has the modules of the code and a white border.
func TestQRCode(t *testing.T) {
	t.Parallel()
	const text = "http://192.168.1.20:8080/office/sign-in#code=ABCD-EFGH-JKLM"
	want, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	size := want.Size + 8
	drawing := string(QRCode(text, `Invitation for "Ana" <Čović>`))
	for _, part := range []string{fmt.Sprintf(`viewBox="0 0 %d %d"`, size, size), `aria-label="Invitation for &#34;Ana&#34; &lt;Čović&gt;"`, `role="img"`} {
		if !strings.Contains(drawing, part) {
			t.Errorf("%s is missing in %.200s", part, drawing)
		}
	}
	if strings.Contains(drawing, "style") {
		t.Error("an inline style, which the Content-Security-Policy blocks")
	}
	black := map[[2]int]bool{}
	for _, line := range regexp.MustCompile(`M(\d+) (\d+)\.5h(\d+)`).FindAllStringSubmatch(drawing, -1) {
		var x, y, length int
		fmt.Sscan(line[1], &x)
		fmt.Sscan(line[2], &y)
		fmt.Sscan(line[3], &length)
		for i := range length {
			black[[2]int{x + i, y}] = true
		}
	}
	for y := range size {
		for x := range size {
			if black[[2]int{x, y}] != want.Black(x-4, y-4) {
				t.Fatalf("module %d, %d differs in %s", x, y, drawing)
			}
		}
	}
	if got := QRCode(strings.Repeat("x", 3000), ""); got != "" {
		t.Errorf("QRCode of a text that is too long = %.100s", got)
	}
}

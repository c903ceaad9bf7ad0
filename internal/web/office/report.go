package office

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// report answers with the whole list, with what becomes of each row and why, so
// that the refused rows can be corrected and brought again.
func (s *pages) report(v visit) error {
	l, err := s.open(v)
	if err != nil {
		return err
	}
	if len(l.faults) > 0 {
		return v.renderCheck(l, "")
	}
	found, err := l.file.Check(v.R.Context(), v.Store, v.Session.Tenant)
	if err != nil {
		return err
	}
	format := sheet.XLSX
	if l.file.Table.Format == sheet.CSV {
		format = sheet.CSV
	}
	var file bytes.Buffer
	header := []string{v.Text("import.result"), v.Text("import.reason")}
	extra := make([][]string, len(l.file.Table.Rows))
	for i, row := range found.All {
		one := v.line(row)
		extra[l.file.Mapped.People[i].Original] = []string{v.Text("import.result." + one.Result), strings.Join(one.Reasons, " ")}
	}
	if err := sheet.WriteTable(&file, format, l.file.Table, header, func(row int) []string { return extra[row] }); err != nil {
		return err
	}
	h := v.W.Header()
	h.Set("Content-Type", sheet.ContentType(format))
	h.Set("Content-Disposition", `attachment; filename="`+v.Text("import.file")+"."+format+`"`)
	httpapi.Respond(v.W, http.StatusOK, file.Bytes())
	return nil
}

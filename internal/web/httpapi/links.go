package httpapi

import (
	"fmt"
	"net/url"
	"strings"
)

// maxLinkedQuery is the longest query, in bytes, that links repeat.
const maxLinkedQuery = 2000

// Links returns the Link header (RFC 8288) of one page of a list: links to the
// first, previous, next and last page, with all parameters of the query but
// page. The query must be well-formed. For one of over 2000 bytes Links
// returns "".
func Links(path, rawQuery string, page, totalPages int64) string {
	if len(rawQuery) > maxLinkedQuery {
		return ""
	}
	// To package url a bare semicolon is an error, to browsers it is not.
	query, _ := url.ParseQuery(strings.ReplaceAll(rawQuery, ";", "%3B"))
	query.Del("page")
	base := path + "?"
	if len(query) > 0 {
		base += query.Encode() + "&"
	}
	link := func(rel string, page int64) string {
		return fmt.Sprintf(`<%spage=%d>; rel="%s"`, base, page, rel)
	}
	last := max(totalPages, 1)
	links := link("first", 1)
	if page > 1 {
		links += ", " + link("prev", min(page-1, last))
	}
	if page < last {
		links += ", " + link("next", page+1)
	}
	return links + ", " + link("last", last)
}

package main

import (
	"net/url"
	"strconv"
	"strings"
)

// maxLinkedQuery is how long a query may be, in bytes, to be repeated in links:
// a search of 100 characters takes 1200.
const maxLinkedQuery = 2000

// linksOf is the Link header (RFC 8288) of a page: to the first, the previous,
// the next and the last one there is, with all other parameters as they were
// sent. Of a query that is longer than any of ours it gives none.
func linksOf(path, rawQuery string, q listQuery, totalPages int64) string {
	if len(rawQuery) > maxLinkedQuery {
		return ""
	}
	base := path + "?"
	for part := range strings.SplitSeq(rawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, _ = url.QueryUnescape(name) // the query was read before: it is well-formed
		value, _ = url.QueryUnescape(value)
		if part != "" && name != "page" {
			base += url.QueryEscape(name) + "=" + url.QueryEscape(value) + "&"
		}
	}
	var b []byte
	link := func(rel string, page int64) {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(b, '<')
		b = append(b, base...)
		b = append(b, "page="...)
		b = strconv.AppendInt(b, page, 10)
		b = append(b, `>; rel="`...)
		b = append(b, rel...)
		b = append(b, '"')
	}
	last := max(totalPages, 1)
	link("first", 1)
	if q.page > 1 {
		link("prev", min(q.page-1, last))
	}
	if q.page < last {
		link("next", q.page+1)
	}
	link("last", last)
	return string(b)
}

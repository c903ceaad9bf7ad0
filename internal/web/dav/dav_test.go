package dav

import "testing"

// TestFind checks that collections are found with and without a trailing slash, cards by the id of a
// person, and nothing else.
func TestFind(t *testing.T) {
	t.Parallel()
	const id = "01a20784-d28f-738e-a515-b0416af9a7c4"
	for path, want := range map[string]resource{
		"/dav/": {rootKind, "/dav/", ""}, "/dav": {rootKind, "/dav/", ""}, "/dav/principal": {principalKind, PrincipalPath, ""},
		"/dav/books/": {homeKind, homePath, ""}, "/dav/books/people": {bookKind, bookPath, ""},
		bookPath + id + ".vcf": {cardKind, cardPath(id), id}, bookPath + "01A20784-D28F-738E-A515-B0416AF9A7C4.vcf": {cardKind, cardPath(id), id},
		"/dav//": {}, "/dav/books/people//": {}, bookPath + id: {}, bookPath + "x.vcf": {}, bookPath + id + ".vcf/": {}, "/dav/books/people/../": {}, "/davx": {},
	} {
		if got, ok := find(path); got != want && ok || ok != (want.kind != 0) {
			t.Errorf("find(%q) = %+v, %t", path, got, ok)
		}
	}
}

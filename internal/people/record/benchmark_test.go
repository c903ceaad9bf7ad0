package record

import "testing"

const benchBody = `{"firstName": "Ana", "lastName": "Čović", "phoneNumber": "091 234 5678",
	"email": "ana.covic@example.com", "dateOfBirth": "1990-05-15T00:00:00+02:00"}`

func BenchmarkDecode(b *testing.B) {
	for b.Loop() {
		if _, err := Decode([]byte(benchBody), today); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNormalize(b *testing.B) {
	for b.Loop() {
		if _, errs := ana.Normalize(today); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	f := Firefighter{ID: anaID, Fields: ana}
	var line []byte
	for b.Loop() {
		line = f.AppendJSON(line[:0])
	}
}

func BenchmarkScan(b *testing.B) {
	row := anaRow()
	var s Stored
	for b.Loop() {
		if Scan(7, false, row, &s); s.Damaged {
			b.Fatal(s)
		}
	}
}

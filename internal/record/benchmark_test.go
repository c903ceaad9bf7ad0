package record

import (
	"testing"
	"time"
)

const benchBody = `{"firstName": "Ana", "lastName": "Čović", "phoneNumber": "091 234 5678",
	"email": "ana.covic@example.com", "dateOfBirth": "1990-05-15T00:00:00+02:00"}`

func BenchmarkDecode(b *testing.B) {
	for b.Loop() {
		if _, _, err := Decode([]byte(benchBody)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	fields, _, _ := Decode([]byte(benchBody))
	now := time.Now()
	for b.Loop() {
		if _, faults := fields.Clean(now); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	fields, _, _ := Decode([]byte(benchBody))
	f := Firefighter{ID: "01a1f83c-64f7-795d-bc35-4c6516093415", Fields: fields}
	var line []byte
	for b.Loop() {
		line = f.AppendJSON(line[:0])
	}
}

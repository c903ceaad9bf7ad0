package httpapi_test

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const idempotencyKey = "Idempotency-Key"

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	x255 := strings.Repeat("x", 255)
	for value, want := range map[string]string{
		"x": "x", "a,b;c=1": "a,b;c=1", "!#'()~": "!#'()~", "  padded\t": "padded", x255: x255, `"` + x255 + `"`: x255,
		`"a"`: "a", `"my key"`: "my key", `"a\"b"`: `a"b`, `"a\\b"`: `a\b`, "8e03978e-40d5-43dd-bc93-6894a57f9324": "8e03978e-40d5-43dd-bc93-6894a57f9324",
	} {
		if got, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, value)); err != nil || got != want {
			t.Errorf("%s is %q, %v", value, got, err)
		}
	}
	if got, err := httpapi.IdempotencyKey(newRequest()); got != "" || err != nil {
		t.Errorf("no key is %q, %v", got, err)
	}
	if _, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, "a", idempotencyKey, "a")); err == nil {
		t.Error("two keys are taken for one")
	}
}

func TestInvalidIdempotencyKey(t *testing.T) {
	t.Parallel()
	const detail = "Idempotency-Key must be one text of 1 to 255 visible ASCII characters."
	want := `{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid","detail":"` + detail +
		`","errors":[{"field":"Idempotency-Key","code":"invalid","detail":"` + detail + `"}],"requestId":"mine"}`
	x256 := strings.Repeat("x", 256)
	for _, value := range []string{"", `""`, `"`, `"a`, `a"`, `"a"b`, "a b", "a\tb", `a\b`, `"a\b"`, `"a\`, "é", `"é"`, x256, `"` + x256 + `"`} {
		_, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, value))
		if err == nil {
			t.Errorf("%q is taken for a key", value)
		} else if got := written(t, err).Body.String(); got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
}

// FuzzIdempotencyKey: a key is 1 to 255 characters of ASCII, and is the same
// key if it is written as a string in quotes.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"x", `"a\"b"`, `"a\\b"`, `"my key"`, `"a"b`, ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, value))
		if err != nil {
			return
		}
		invalid := func(c rune) bool { return c < ' ' || c > '~' }
		if key == "" || len(key) > 255 || strings.ContainsFunc(key, invalid) {
			t.Errorf("%q is the key %q", value, key)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, quoted)); again != key || err != nil {
			t.Errorf("%q is the key %q, but %s is %q, %v", value, key, quoted, again, err)
		}
	})
}

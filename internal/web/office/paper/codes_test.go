package paper

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// someVersions returns small versions and random ones.
func someVersions(random *rand.Rand) (versions []int64) {
	for v := range int64(2000) {
		versions = append(versions, v)
	}
	for range 2000 {
		versions = append(versions, random.Int64N(codeCount))
	}
	return append(versions, codeCount-1)
}

func TestCodesAreReadBack(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		c := newCodes(record.TenantID(random.Int64N(1000)), random.Int64()-random.Int64())
		for _, version := range someVersions(random) {
			code := c.of(version)
			if len(code) != codeLength || strings.Trim(code, characters) != "" {
				t.Fatalf("code of version %d = %q", version, code)
			}
			for _, typed := range []string{code, strings.ToLower(code), " " + code[:3] + " " + code[3:] + "\t", code[:2] + "-" + code[2:4] + "–" + code[4:]} {
				if got, ok := c.version(typed, version); got != version || !ok {
					t.Fatalf("version of %q = %d, %t, want %d", typed, got, ok, version)
				}
			}
			if _, ok := c.version(code, version-1); ok {
				t.Fatalf("code %s of version %d is valid before this version", code, version)
			}
		}
	}
}

const characters = "34679ACDEFGHJKMNPQRTUVWXY"

// TestMistypedCodes checks that codes with one wrong character or two swapped neighbors are
// invalid in a department with three million changes.
func TestMistypedCodes(t *testing.T) {
	t.Parallel()
	const newest = 3_000_000
	random := rand.New(rand.NewPCG(3, 4))
	c := newCodes(7, random.Int64())
	for range 2000 {
		code := c.of(random.Int64N(newest))
		typed := []string{}
		for i := range codeLength {
			for _, wrong := range characters {
				typed = append(typed, code[:i]+string(wrong)+code[i+1:])
			}
			if i > 0 {
				typed = append(typed, code[:i-1]+code[i:i+1]+code[i-1:i]+code[i+1:])
			}
		}
		for _, text := range typed {
			if version, ok := c.version(text, newest); ok && text != code {
				t.Fatalf("%s, typed as %s, is version %d", code, text, version)
			}
		}
	}
}

func TestNoCodes(t *testing.T) {
	t.Parallel()
	c := newCodes(1, 1)
	for _, text := range []string{"", "-", "      ", "3", "33333", "3333333", "33333O", "33333ß", "33333\x00", "３３３３３３", "\xff33333", strings.Repeat("Y", 1000)} {
		if version, ok := c.version(text, codeCount); ok {
			t.Errorf("version of %q = %d, want none", text, version)
		}
	}
}

//go:build !race

package acceptance

// withRace reports whether the tests are built with the race detector.
const withRace = false

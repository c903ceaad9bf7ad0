//go:build !unix

package main

import "math"

// fileLimit is how many files the process may have open.
func fileLimit() uint64 { return math.MaxUint64 }

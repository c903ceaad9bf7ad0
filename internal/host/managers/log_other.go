//go:build !linux && !darwin

package managers

import "os"

func reopen(*os.File, string) error { return nil } // no log is a file here

//go:build !linux && !darwin

package managers

import "os"

func reopen(*os.File, string) error { return nil } // here no service manager writes a log to a file

//go:build !windows

package winservice

import (
	"context"
	"io"
)

// Run reports false: other systems start the program of a service as anybody does.
func Run([]string, func(ctx context.Context, log io.Writer) int) bool { return false }

// Ready does nothing: no service manager of Windows waits for it.
func Ready(string) {}

//go:build !windows

package winservice

import (
	"context"
	"io"
)

// Host reports false: the service managers of other systems start a program as
// anybody does.
func Host([]string, func(ctx context.Context, log io.Writer) int) bool { return false }

// Ready does nothing: the Manager says it.
func Ready(string) {}

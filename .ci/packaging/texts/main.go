// Texts prints the systemd unit or the sysusers file of a package.
//
//	go run ./.ci/packaging/texts unit|sysusers
package main

import (
	"fmt"
	"os"

	"github.com/firefighter-records/firefighters/internal/host/managers"
)

func main() {
	texts := map[string]string{"unit": managers.Unit("/usr/bin/firefighters"), "sysusers": managers.Sysusers}
	if len(os.Args) != 2 || texts[os.Args[1]] == "" {
		fmt.Fprintln(os.Stderr, "Usage: go run ./.ci/packaging/texts unit|sysusers")
		os.Exit(2)
	}
	fmt.Print(texts[os.Args[1]])
}

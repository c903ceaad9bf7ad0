// Texts prints what a package has beside the program and its pages.
//
//	go run ./.ci/packaging/texts unit|sysusers
package main

import (
	"fmt"
	"os"

	"github.com/firefighter-records/firefighters/internal/service"
)

func main() {
	texts := map[string]string{"unit": service.Unit("/usr/bin/firefighters"), "sysusers": service.Sysusers}
	if len(os.Args) != 2 || texts[os.Args[1]] == "" {
		fmt.Fprintln(os.Stderr, "Usage: go run ./.ci/packaging/texts unit|sysusers")
		os.Exit(2)
	}
	fmt.Print(texts[os.Args[1]])
}

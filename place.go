package main

import (
	"fmt"
	"path/filepath"

	"firefighters/internal/disk"
)

// warnOfPlace warns of a folder in which a database is not safe while it is
// served.
func (p *program) warnOfPlace(path string) {
	folder, err := filepath.Abs(filepath.Dir(resolve(path)))
	if err != nil {
		return
	}
	const advice = "keep it on a disk of this computer, and its backups there"
	if kind := disk.Network(folder); kind != "" {
		fmt.Fprintf(p.stderr, "Warning: the database is on a network disk (%s), where locks and a power cut can damage it;\n%s.\n", kind, advice)
	}
	if program := disk.SyncProgram(folder); program != "" {
		fmt.Fprintf(p.stderr, "Warning: the database is in a folder of %s, which copies and replaces files in use and can damage it;\n%s.\n", program, advice)
	}
}

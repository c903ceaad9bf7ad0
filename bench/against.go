package main

import (
	"fmt"
	"path/filepath"
)

// otherBuilds compares the request rates of the service with other builds of it. Each
// build serves a separate country.
func (b *bench) otherBuilds() error {
	for i, program := range b.against {
		if err := b.otherBuild(program, fmt.Sprintf("against%d.db", i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) otherBuild(program, name string) error {
	ours := b.country
	theirs, err := b.demo(program, name, b.departments, b.people)
	if err != nil {
		return err
	}
	other, err := b.serve(theirs)
	if err != nil {
		return err
	}
	defer other.stop()
	searches, err := ours.searches()
	if err != nil {
		return err
	}
	theirSearches, err := theirs.searches()
	if err != nil {
		return err
	}
	for _, work := range []struct {
		name         string
		clients      int
		ours, theirs *supply
	}{
		{"search, department of 40", readers, searches, theirSearches},
		{"GET by id", readers, ours.gets(), theirs.gets()},
		{"list of 20", readers, ours.lists(), theirs.lists()},
		{"PUT, 64 clients", writers, ours.replaces(), theirs.replaces()},
		{"create, 64 clients", writers, ours.creates(), theirs.creates()},
		{"create, 1 client", 1, ours.creates(), theirs.creates()},
	} {
		ours, theirs := sending(b.service, work.clients, work.ours), sending(other, work.clients, work.theirs)
		if err := b.versus(work.name+" : "+filepath.Base(program), atLeast(0.97), ours, theirs); err != nil {
			return fmt.Errorf("%s: %w", work.name, err)
		}
	}
	return nil
}

package main

import (
	_ "embed"

	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

//go:embed schema.sql
var schemaSQL string

// upgrades are the steps from each version of schema.sql to the next. The list is empty: until the
// first release, schema.sql changes in place.
var upgrades []func(*sqlite.Conn) error

var schema = database.Schema{Format: store.Format(schemaSQL, len(upgrades)+1), Upgrades: upgrades}

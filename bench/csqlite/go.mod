module csqlite

go 1.26.0

require (
	github.com/julienschmidt/httprouter v1.3.0
	github.com/mattn/go-sqlite3 v1.14.53
)

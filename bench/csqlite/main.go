// Csqlite answers GET by id as the service does, but through SQLite in C. It
// knows no keys, tags or history. bench/run measures the service against it.
//
//	csqlite FILE ADDRESS
//
// It is a module of its own, so that the service needs neither cgo nor the
// driver.
package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/julienschmidt/httprouter"
	_ "github.com/mattn/go-sqlite3" // the driver
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "Usage: csqlite FILE ADDRESS")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// serve answers requests until the process is killed.
func serve(file, address string) error {
	db, err := open(file)
	if err != nil {
		return err
	}
	defer db.Close()
	get, err := db.Prepare(`
		SELECT id, first_name, last_name, phone_number, email, date_of_birth, invitation_status, user_id
		  FROM firefighters WHERE id = ? AND tenant_id = ? AND deleted_at IS NULL`)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	router := httprouter.New()
	router.GET("/api/v1/firefighters/:id", func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		tenant, err := tenantOf(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		f, err := find(get, params.ByName("id"), tenant)
		respond(w, f, err)
	})
	fmt.Println("Listening on http://" + listener.Addr().String())
	return http.Serve(listener, router)
}

// open opens a database with as many connections that read as the service has.
// SQLite needs no locks of its own, because database/sql lends each connection
// to one goroutine at a time.
func open(file string) (*sql.DB, error) {
	settings := url.Values{"mode": {"ro"}, "_query_only": {"true"}, "_journal_mode": {"WAL"},
		"_busy_timeout": {"5000"}, "_mutex": {"no"}}
	db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Path: file, RawQuery: settings.Encode()}).String())
	if err != nil {
		return nil, err
	}
	connections := max(4, runtime.NumCPU())
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// tenantOf returns the number of the department, which is sent in place of a
// key.
func tenantOf(r *http.Request) (int64, error) {
	return strconv.ParseInt(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), 10, 64)
}

// firefighter is a record as the service sends it.
type firefighter struct {
	ID               string  `json:"id"`
	FirstName        string  `json:"firstName"`
	LastName         string  `json:"lastName"`
	PhoneNumber      *string `json:"phoneNumber"`
	Email            *string `json:"email"`
	DateOfBirth      *string `json:"dateOfBirth"`
	InvitationStatus *string `json:"invitationStatus"`
	UserID           *string `json:"userId"`
}

func find(get *sql.Stmt, id string, tenant int64) (f firefighter, err error) {
	err = get.QueryRow(id, tenant).Scan(&f.ID, &f.FirstName, &f.LastName, &f.PhoneNumber, &f.Email, &f.DateOfBirth,
		&f.InvitationStatus, &f.UserID)
	return f, err
}

func respond(w http.ResponseWriter, f firefighter, err error) {
	body, encodeErr := json.Marshal(f)
	switch err = cmp.Or(err, encodeErr); {
	case errors.Is(err, sql.ErrNoRows):
		http.Error(w, "there is no such record", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Write(body)
	}
}

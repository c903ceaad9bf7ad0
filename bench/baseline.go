package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/uuid"
	"github.com/julienschmidt/httprouter"
	"github.com/spf13/pflag"
)

// baseline is what the service is compared with: the least work that produces
// the same answers. It runs in a process of its own, as the service does.
type baseline struct {
	record  []byte   // the service's answer to a GET by id
	list    envelope // the service's answer to a list request
	country *sql.DB
	plain   *sql.DB // has the table without indexes and triggers
}

// envelope and firefighter are the service's list in a form that encoding/json
// can encode.
type envelope struct {
	Data struct {
		Items           []firefighter `json:"items"`
		Page            int           `json:"page"`
		PageSize        int           `json:"pageSize"`
		TotalCount      int           `json:"totalCount"`
		TotalPages      int           `json:"totalPages"`
		HasPreviousPage bool          `json:"hasPreviousPage"`
		HasNextPage     bool          `json:"hasNextPage"`
	} `json:"data"`
	TotalCount int `json:"totalCount"`
}

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

// serveBaseline runs the baseline process until ctx is done.
func serveBaseline(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("bench baseline", pflag.ContinueOnError)
	folder := flags.String("folder", "", "the folder with the databases and the saved answers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b, err := openBaseline(*folder)
	if err != nil {
		return err
	}
	defer b.plain.Close()
	defer b.country.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: b.router()}
	context.AfterFunc(ctx, func() { server.Close() })
	fmt.Println("Listening on http://" + listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func openBaseline(folder string) (b *baseline, err error) {
	b = &baseline{}
	if b.record, err = os.ReadFile(filepath.Join(folder, "record.json")); err != nil {
		return nil, err
	}
	list, err := os.ReadFile(filepath.Join(folder, "list.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(list, &b.list); err != nil {
		return nil, err
	}
	if b.country, err = openDatabase(filepath.Join(folder, "country.db"), "mode=ro"); err != nil {
		return nil, err
	}
	b.plain, err = openPlain(filepath.Join(folder, "plain.db"))
	return b, err
}

// openPlain creates the plain table. It has no index and no trigger, but its
// commits are as durable as the service's.
func openPlain(path string) (*sql.DB, error) {
	db, err := openDatabase(path, "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE TABLE plain (id TEXT, first_name TEXT, last_name TEXT, phone_number TEXT,
		email TEXT, date_of_birth TEXT)`)
	return db, err
}

// router routes the same requests as the service, so that the load is the same.
func (b *baseline) router() http.Handler {
	router := httprouter.New()
	router.GET(records+"/:id", b.get)
	router.GET(records, b.page)
	router.GET("/like/:tenant", b.like)
	router.POST(records, b.create)
	return router
}

// respond sends a body with four of the service's headers. The other headers
// count as work of the service.
func respond(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("X-Request-Id", "f3d5a1b2c4e6-1")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// respondWith sends a value encoded by encoding/json, or err.
func respondWith(w http.ResponseWriter, status int, value any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	respond(w, status, body)
}

func (b *baseline) get(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
	respond(w, http.StatusOK, b.record)
}

func (b *baseline) page(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
	respondWith(w, http.StatusOK, &b.list, nil)
}

// matching scans the rows of one department, which are adjacent, and no others.
const matching = ` FROM firefighters
	WHERE row > ?1 << 32 AND row < (?1 + 1) << 32 AND deleted_at IS NULL
	  AND (first_name LIKE ?2 OR last_name LIKE ?2 OR phone_number LIKE ?2 OR email LIKE ?2)`

// like searches four columns. It runs one query for the page and one for the
// total.
func (b *baseline) like(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
	tenant, pattern := params.ByName("tenant"), "%"+r.URL.Query().Get("search")+"%"
	answer := envelope{}
	err := query(b.country, `SELECT id, first_name, last_name, phone_number, email, date_of_birth,
		invitation_status, user_id`+matching+` ORDER BY row DESC LIMIT 20`, func(rows *sql.Rows) error {
		var f firefighter
		err := rows.Scan(&f.ID, &f.FirstName, &f.LastName, &f.PhoneNumber, &f.Email, &f.DateOfBirth,
			&f.InvitationStatus, &f.UserID)
		answer.Data.Items = append(answer.Data.Items, f)
		return err
	}, tenant, pattern)
	if err == nil {
		err = b.country.QueryRow(`SELECT count(*)`+matching, tenant, pattern).Scan(&answer.TotalCount)
	}
	respondWith(w, http.StatusOK, &answer, err)
}

// create inserts a row in one synced transaction, without validation.
func (b *baseline) create(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	var f firefighter
	err := json.NewDecoder(r.Body).Decode(&f)
	if err == nil {
		f.ID = uuid.Must(uuid.NewV7()).String()
		_, err = b.plain.Exec(`INSERT INTO plain VALUES (?, ?, ?, ?, ?, ?)`,
			f.ID, f.FirstName, f.LastName, f.PhoneNumber, f.Email, f.DateOfBirth)
	}
	respondWith(w, http.StatusCreated, &f, err)
}

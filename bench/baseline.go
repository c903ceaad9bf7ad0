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

// baseline is what the service is compared with: a handler that only sends a record,
// and one that only inserts a row. It runs in a separate process, as the service does.
type baseline struct {
	record []byte  // the service's answer to a GET by id
	plain  *sql.DB // has the table without indexes and triggers
}

func serveBaseline(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("bench baseline", pflag.ContinueOnError)
	folder := flags.String("folder", "", "the folder with the databases and the saved answers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	record, err := os.ReadFile(filepath.Join(*folder, "record.json"))
	if err != nil {
		return err
	}
	plain, err := openPlain(filepath.Join(*folder, "plain.db"))
	if err != nil {
		return err
	}
	defer plain.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: (&baseline{record, plain}).router()}
	context.AfterFunc(ctx, func() { server.Close() })
	fmt.Println("Listening on http://" + listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
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

func (b *baseline) get(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
	respond(w, http.StatusOK, b.record)
}

// create inserts a row in one synced transaction, without validation.
func (b *baseline) create(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	var f struct {
		ID          string  `json:"id"`
		FirstName   string  `json:"firstName"`
		LastName    string  `json:"lastName"`
		PhoneNumber *string `json:"phoneNumber"`
		Email       *string `json:"email"`
		DateOfBirth *string `json:"dateOfBirth"`
	}
	if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.ID = uuid.Must(uuid.NewV7()).String()
	if _, err := b.plain.Exec(`INSERT INTO plain VALUES (?, ?, ?, ?, ?, ?)`,
		f.ID, f.FirstName, f.LastName, f.PhoneNumber, f.Email, f.DateOfBirth); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body, err := json.Marshal(&f)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	respond(w, http.StatusCreated, body)
}

// creates compares the rate of creates with the baseline, which runs one transaction per
// create. The two run in turn, forwards and backwards, so that other load on the machine affects
// both equally. A short warm-up of each comes first and does not count.
func (b *bench) creates() error {
	people := creates(b.country.random, b.country.drawn)
	for _, work := range []struct {
		name    string
		clients int
		goal    goal
	}{
		{"create, 64 clients", writers, atLeast(2.5)},
		{"create, 1 client", 1, atLeast(0.7)},
	} {
		loads := [2]load{{b.service, work.clients, people}, {b.baseline, work.clients, people}}
		for _, l := range loads {
			if _, err := l.run(b.round / 5); err != nil {
				return err
			}
		}
		var rates [2][]float64
		for n := range b.rounds {
			for turn := range loads {
				i := (turn + n) % 2
				rate, err := loads[i].run(b.round)
				if err != nil {
					return err
				}
				rates[i] = append(rates[i], rate)
			}
		}
		b.table.add(work.name+" : one transaction per request, plain table", work.goal, compared("", "requests/s", rates[0], rates[1]))
	}
	return nil
}

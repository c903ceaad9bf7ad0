package dav

import "net/http"

// calendarPath is the address of the calendar of birthdays.
const calendarPath = Root + "birthdays.ics"

func (s *Server) serveCalendar(w http.ResponseWriter, r *http.Request) error { return errNothing }

package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/web/httpserver"
)

// othersPort is where other devices connect if the settings allow them: all addresses of the computer.
const othersPort = ":8443"

// serveOthers opens or closes the listener for other devices, with TLS. It is open only if no flag sets an
// address or a certificate. It is then the main listener, and the listener of the flags is for this
// computer. If it cannot be opened, the service runs without it.
func (d *daemon) serveOthers(allowed bool) {
	d.trouble = nil
	switch {
	case allowed && d.others == nil:
		if d.trouble = d.openOthers(); d.trouble != nil {
			d.env.Warn(fmt.Sprintf("other devices cannot connect: %v", d.trouble), "")
		}
	case !allowed && d.others != nil:
		d.stopOthers()
		d.others, d.listener, d.local = nil, d.local, nil
		d.service.Authority, d.CertFile, d.KeyFile = nil, "", ""
	}
}

func (d *daemon) openOthers() error {
	d.serving.Wait() // for an earlier one to close, which has a timeout
	opened, err := authority.Open(authority.Options{Folder: authority.Folder(d.DB), Listen: d.othersAt, Log: d.service.Log})
	if err != nil {
		return err
	}
	file := opened.ServerFile()
	server, err := httpserver.New(httpserver.Config{CertFile: file, KeyFile: file, Beside: d.web, Log: d.service.Log})
	if err != nil {
		return err
	}
	listener, err := httpserver.Listen(d.othersAt)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(d.env.Context)
	d.others, d.listener, d.local = server, listener, d.listener
	d.stopOthers = cancel
	d.service.Authority, d.CertFile, d.KeyFile = opened, file, file
	d.serving.Go(func() {
		if err := server.Serve(ctx, listener, nil, &d.door); err != nil {
			d.service.Log.Error("other devices can no longer connect", "cause", err.Error())
		}
	})
	return nil
}

// retryOthers asks to apply the settings again if the port for other devices was taken and no longer is.
func (d *daemon) retryOthers() error {
	if !errors.Is(d.trouble, httpserver.ErrPortTaken) {
		return nil
	}
	if listener, err := httpserver.Listen(d.othersAt); err == nil {
		listener.Close()
		select {
		case d.reloads <- reload{done: make(chan struct{})}:
		default: // busy; the next try asks again
		}
	}
	return nil
}

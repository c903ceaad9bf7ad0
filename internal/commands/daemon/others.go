package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/web/httpserver"
)

// othersPort is where other devices connect if the settings allow them: all addresses of the computer.
const othersPort = ":8443"

// others serves other devices with TLS, next to the listeners that the flags have opened.
type others struct {
	authority *authority.Authority
	server    *httpserver.Server
	listener  net.Listener
	stop      func()          // stops accepting connections; requests in flight finish
	done      <-chan struct{} // closed when the requests have finished
}

// noticed is a listener that reports when it is closed.
type noticed struct {
	net.Listener
	closed func()
}

func (n noticed) Close() error {
	defer n.closed()
	return n.Listener.Close()
}

// serveOthers opens or closes the listener for other devices. If it cannot be opened, the service goes
// on without it.
func (d *daemon) serveOthers(allowed bool) {
	if d.trouble = nil; !allowed {
		d.closeOthers(false)
	} else if d.others == nil {
		if d.others, d.trouble = d.openOthers(); d.trouble != nil {
			d.env.Warn(fmt.Sprintf("other devices cannot connect: %v", d.trouble), "")
		}
	}
	d.listener, d.local = d.first, d.second
	d.CertFile, d.KeyFile = d.flags.CertFile, d.flags.KeyFile
	if !d.SelfSigned {
		d.service.Authority = nil
	}
	if o := d.others; o != nil {
		d.listener, d.local = o.listener, d.first
		d.service.Authority, d.Backups.Authority = o.authority, o.authority.PrivateFile()
		d.CertFile, d.KeyFile = o.authority.ServerFile(), o.authority.ServerFile()
	}
}

func (d *daemon) openOthers() (*others, error) {
	listener, err := httpserver.Listen(d.othersAt)
	if err != nil {
		return nil, err
	}
	o := &others{}
	o.authority, err = authority.Open(authority.Options{Folder: authority.Folder(d.DB), Listen: d.othersAt, Log: d.service.Log})
	if err == nil {
		file := o.authority.ServerFile()
		o.server, err = httpserver.New(httpserver.Config{CertFile: file, KeyFile: file, Beside: d.web, Log: d.service.Log})
	}
	if err != nil {
		listener.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(d.env.Context)
	closed, done := make(chan struct{}), make(chan struct{})
	o.listener, o.done = noticed{listener, sync.OnceFunc(func() { close(closed) })}, done
	o.stop = func() { cancel(); <-closed }
	go func() {
		defer close(done)
		if err := o.server.Serve(ctx, o.listener, nil, &d.door); err != nil {
			d.service.Log.Error("other devices can no longer connect", "cause", err.Error())
		}
	}()
	return o, nil
}

// closeOthers closes the listener for other devices. It can wait for their requests.
func (d *daemon) closeOthers(wait bool) {
	if d.others == nil {
		return
	}
	d.others.stop()
	if wait {
		<-d.others.done
	}
	d.others = nil
}

// retryOthers applies the settings again if the port for other devices was taken and no longer is.
func (d *daemon) retryOthers() error {
	if !errors.Is(d.trouble, httpserver.ErrPortTaken) {
		return nil
	}
	if listener, err := httpserver.Listen(d.othersAt); err == nil {
		listener.Close()
		d.reload(nil)
	}
	return nil
}

package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

const (
	megabyte  = 1 << 20
	crowdSize = 300 // connections that stay open
)

// memory measures the peak memory of the service while many clients send the most
// expensive requests and read only the first byte of each answer.
func (b *bench) memory() error {
	d := b.country.large
	upload := strings.Repeat("First name,Last name\nAna,Horvat\n", 10*megabyte/32)
	if err := b.service.stop(); err != nil {
		return err
	}
	var all []finding
	for _, hostile := range []struct {
		name    string
		request func(*process) []byte
	}{
		{"pages of the largest department", func(p *process) []byte { return d.page(p, "", "").bytes }},
		{"searches in the largest department", func(p *process) []byte { return d.page(p, "search=a", "").bytes }},
		{"prints of the largest department", func(p *process) []byte {
			return []byte(strings.Replace(string(d.page(p, "list=full", "").bytes), "/office/?", "/office/print?", 1))
		}},
		{"exports of the largest department", func(*process) []byte {
			return newRequest("GET", "/api/v1/export?format=csv&sortBy=lastName", d.key, "", 200, "").bytes
		}},
		{"imports of 10 MB", func(*process) []byte {
			return fmt.Appendf(nil, "POST /api/v1/imports HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: text/csv\r\nContent-Length: %d\r\n\r\n%s", d.key, len(upload), upload)
		}},
	} {
		peak, err := b.crowd(hostile.request)
		if err != nil {
			return fmt.Errorf("%s: %w", hostile.name, err)
		}
		all = append(all, finding{hostile.name, float64(peak) / megabyte, fmt.Sprintf("VmHWM with %d connections", crowdSize)})
	}
	b.table.add("memory under hostile load", atMost(150, "MB"), all...)
	var err error
	b.service, err = b.serve(b.country)
	return err
}

// crowd starts a service, sends it a request from many connections at the same time, and
// returns its peak memory.
func (b *bench) crowd(request func(*process) []byte) (peak int64, err error) {
	p, err := b.serve(b.country)
	if err != nil {
		return 0, err
	}
	clients, err := dialAll(p, crowdSize)
	defer closeAll(clients)
	defer p.kill()
	if err != nil {
		return 0, err
	}
	message := request(p)
	var working sync.WaitGroup
	for _, c := range clients {
		if err := c.conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			return 0, err
		}
		working.Go(func() {
			c.conn.Write(message) // fails if the service stops reading
			io.ReadFull(c.conn, make([]byte, 1))
		})
	}
	working.Wait()
	return p.memory("VmHWM"), nil
}

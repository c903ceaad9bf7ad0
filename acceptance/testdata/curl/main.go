// Command curl sends a request, with the flags of curl that docs/operations.md uses. So the
// tests of that page need no curl.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	method, address, body, output := "GET", "", "", os.Stdout
	header := http.Header{}
	for args := os.Args[1:]; len(args) > 0; args = args[1:] {
		flag := args[0]
		if strings.HasPrefix(flag, "-") && flag != "-s" && len(args) > 1 {
			args = args[1:]
		}
		switch value := args[0]; flag {
		case "-s":
		case "-X":
			method = value
		case "-d":
			method, body = "POST", value
		case "-H":
			name, text, _ := strings.Cut(value, ": ")
			header.Set(name, text)
		case "-o":
			file, err := os.Create(value)
			if err != nil {
				log.Fatal(err)
			}
			output = file
		default:
			address = value
		}
	}
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		os.Exit(7)
	}
	defer response.Body.Close()
	if _, err := io.Copy(output, response.Body); err != nil {
		log.Fatal(err)
	}
}

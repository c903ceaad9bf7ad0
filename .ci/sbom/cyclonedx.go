package main

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// bom is a document of CycloneDX 1.6, as far as it is used here.
type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Ref        string       `json:"bom-ref"`
	Type       string       `json:"type"`
	Name       string       `json:"name"`
	Version    string       `json:"version,omitempty"`
	Hashes     []hash       `json:"hashes,omitempty"`
	Licences   []licenceRef `json:"licenses,omitempty"`
	URL        string       `json:"purl,omitempty"`
	Properties []property   `json:"properties,omitempty"`
	Components []component  `json:"components,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licenceRef struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// writeCycloneDX writes the modules of the programs. The same programs always
// give the same bytes.
func writeCycloneDX(out io.Writer, r release, version string, date time.Time, ours licence, theirs []licence) error {
	main := library(r.main, "v"+version, ours)
	main.Type, main.Version = "application", version
	var err error
	if main.Components, err = files(r.programs); err != nil {
		return err
	}
	b := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{Timestamp: date.Format(time.RFC3339), Component: main},
	}
	b.Components = []component{library("std", strings.TrimPrefix(r.compiler, "go"), theirs[0])}
	for i, m := range r.modules {
		c := library(m.Path, m.Version, theirs[i+1])
		c.Properties = []property{{"go:sum", m.Sum}}
		b.Components = append(b.Components, c)
	}
	all := dependency{Ref: main.Ref}
	for _, c := range b.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{all}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	b.Serial = "urn:uuid:" + uuid(text)
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(b)
}

func library(path, version string, l licence) component {
	url := "pkg:golang/" + path + "@" + version
	c := component{Ref: url, Type: "library", Name: path, Version: version, URL: url, Licences: make([]licenceRef, 1)}
	c.Licences[0].Licence.ID = l.id
	return c
}

// files returns the programs with their checksums.
func files(programs []program) (found []component, err error) {
	for _, p := range programs {
		content, err := os.ReadFile(p.path)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		name := "firefighters for " + p.system
		found = append(found, component{Ref: name, Type: "file", Name: name, Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}})
	}
	return found, nil
}

// uuid returns a UUID of version 5 that depends on the content alone.
func uuid(content []byte) string {
	u := sha1.Sum(content)
	u[6], u[8] = u[6]&0x0f|0x50, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

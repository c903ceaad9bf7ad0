// Walk calls each operation of the API with the client that oapi-codegen
// generates from docs/openapi.yaml. .ci/contract builds it beside the client.
//
// No two components of the document may share a name, even if their kinds differ:
// oapi-codegen generates a Go type for each.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"walk/client"
)

func main() {
	if err := walk(context.Background(), os.Args[1], os.Getenv("KEY")); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	fmt.Println("the Go client: list, create, get, replace, delete and three errors")
}

// expect returns an error unless the response has this status and its content is
// right.
func expect(what string, response *http.Response, err error, status int, right bool) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case response.StatusCode != status || !right:
		return fmt.Errorf("%s: unexpected response %s", what, response.Status)
	}
	return nil
}

// walk calls all operations, and provokes three errors.
func walk(ctx context.Context, url, key string) error {
	withKey := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	c, err := client.NewClientWithResponses(url, client.WithRequestEditorFn(withKey))
	if err != nil {
		return err
	}
	f, etag, err := create(ctx, c)
	if err != nil {
		return err
	}
	if err := read(ctx, c, f); err != nil {
		return err
	}
	if err := replace(ctx, c, f, etag); err != nil {
		return err
	}
	return remove(ctx, c, f)
}

// create creates one record with two requests that have the same Idempotency-Key.
// A third request is not valid.
func create(ctx context.Context, c *client.ClientWithResponses) (f *client.Firefighter, etag string, err error) {
	phone, born, once := "091 234 5678", "1990-05-15", "walk-1"
	input := client.FirefighterInput{FirstName: "Ana", LastName: "Čović", PhoneNumber: &phone, DateOfBirth: &born}
	params := &client.CreateFirefighterParams{IdempotencyKey: &once}
	for range 2 {
		r, err := c.CreateFirefighterWithResponse(ctx, params, input)
		if err == nil {
			f, etag = r.JSON201, r.HTTPResponse.Header.Get("ETag")
			err = expect("creating", r.HTTPResponse, nil, 201, f != nil && f.LastName == "Čović" && f.Email == nil && etag != "")
		}
		if err != nil {
			return nil, "", err
		}
	}
	bad, err := c.CreateFirefighterWithResponse(ctx, nil, client.FirefighterInput{FirstName: "Ana"})
	if err != nil {
		return nil, "", err
	}
	p := bad.ApplicationproblemJSON400
	right := p != nil && p.Code == client.ProblemCodeInvalid && p.Errors != nil &&
		(*p.Errors)[0].Field == "lastName" && (*p.Errors)[0].Code == client.FaultCodeRequired
	return f, etag, expect("creating without a last name", bad.HTTPResponse, nil, 400, right)
}

// read lists and gets the record.
func read(ctx context.Context, c *client.ClientWithResponses, f *client.Firefighter) error {
	search, by, direction := "covic", client.ListFirefightersParamsSortByLastName, client.ListFirefightersParamsSortDirAsc
	list, err := c.ListFirefightersWithResponse(ctx, &client.ListFirefightersParams{Search: &search, SortBy: &by, SortDir: &direction})
	if err != nil {
		return err
	}
	page := list.JSON200
	right := page != nil && page.TotalCount == 1 && len(page.Data.Items) == 1 && page.Data.Items[0].Id == f.Id
	if err := expect("listing", list.HTTPResponse, nil, 200, right); err != nil {
		return err
	}
	one, err := c.GetFirefighterWithResponse(ctx, f.Id, nil)
	if err != nil {
		return err
	}
	right = one.JSON200 != nil && one.JSON200.DateOfBirth != nil && one.JSON200.DateOfBirth.Day() == 15
	return expect("getting", one.HTTPResponse, nil, 200, right)
}

// replace replaces the record twice with the same If-Match. The second request
// must fail.
func replace(ctx context.Context, c *client.ClientWithResponses, f *client.Firefighter, etag string) error {
	input := client.FirefighterInput{FirstName: "Eva", LastName: f.LastName, Id: f.Id}
	params := &client.ReplaceFirefighterParams{IfMatch: &etag}
	first, err := c.ReplaceFirefighterWithResponse(ctx, f.Id, params, input)
	if err != nil {
		return err
	}
	right := first.JSON200 != nil && first.JSON200.FirstName == "Eva" && first.JSON200.PhoneNumber == nil
	if err := expect("replacing", first.HTTPResponse, nil, 200, right); err != nil {
		return err
	}
	late, err := c.ReplaceFirefighterWithResponse(ctx, f.Id, params, input)
	if err != nil {
		return err
	}
	return expect("replacing a changed record", late.HTTPResponse, nil, 412, late.ApplicationproblemJSON412 != nil)
}

// remove deletes the record and gets it again, which must fail.
func remove(ctx context.Context, c *client.ClientWithResponses, f *client.Firefighter) error {
	gone, err := c.DeleteFirefighterWithResponse(ctx, f.Id, nil)
	if err != nil {
		return err
	}
	if err := expect("deleting", gone.HTTPResponse, nil, 204, len(gone.Body) == 0); err != nil {
		return err
	}
	none, err := c.GetFirefighterWithResponse(ctx, f.Id, nil)
	if err != nil {
		return err
	}
	return expect("getting a deleted record", none.HTTPResponse, nil, 404,
		none.ApplicationproblemJSON404 != nil && none.ApplicationproblemJSON404.Code == client.ProblemCodeRecord)
}

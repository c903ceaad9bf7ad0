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
	"strings"

	"walk/client"
)

func main() {
	if err := walk(context.Background(), os.Args[1], os.Getenv("KEY")); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	fmt.Println("the Go client: list, create, get, replace, patch, delete, import, undo, export, changes and three errors")
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
	if err := patch(ctx, c, f); err != nil {
		return err
	}
	if err := remove(ctx, c, f); err != nil {
		return err
	}
	return carry(ctx, c)
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

// patch changes one member.
func patch(ctx context.Context, c *client.ClientWithResponses, f *client.Firefighter) error {
	phone := "112"
	r, err := c.PatchFirefighterWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, f.Id, nil, client.FirefighterPatch{PhoneNumber: &phone})
	if err != nil {
		return err
	}
	return expect("patching", r.HTTPResponse, nil, 200, r.JSON200 != nil && *r.JSON200.PhoneNumber == phone && r.JSON200.FirstName == "Eva")
}

// carry imports two people, takes the import back, and looks for both in the
// changes. An export has nobody then.
func carry(ctx context.Context, c *client.ClientWithResponses) error {
	apply := true
	made, err := c.ImportFirefightersWithBodyWithResponse(ctx, &client.ImportFirefightersParams{Apply: &apply}, "text/csv",
		strings.NewReader("First name,Last name\nAna,A\nEva,B\n"))
	if err != nil {
		return err
	}
	if err := expect("importing", made.HTTPResponse, nil, 201, made.JSON201 != nil && made.JSON201.Added == 2 && *made.JSON201.Number == 1); err != nil {
		return err
	}
	undone, err := c.TakeImportBackWithResponse(ctx, 1, nil)
	if err != nil {
		return err
	}
	if err := expect("taking back", undone.HTTPResponse, nil, 200, undone.JSON200 != nil && undone.JSON200.Deleted == 2); err != nil {
		return err
	}
	feed, err := c.ListChangesWithResponse(ctx, nil)
	if err != nil {
		return err
	}
	right := feed.JSON200 != nil && !feed.JSON200.More && len(feed.JSON200.Items) > 0 && feed.JSON200.Items[0].Record == nil
	if err := expect("following", feed.HTTPResponse, nil, 200, right); err != nil {
		return err
	}
	file, err := c.ExportFirefightersWithResponse(ctx, nil)
	if err != nil {
		return err
	}
	return expect("exporting", file.HTTPResponse, nil, 200, strings.HasSuffix(string(file.Body), "userId\r\n"))
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

// Walk calls each operation of the API with the client that oapi-codegen
// generates from docs/openapi.yaml. .ci/contract builds it beside the client.
//
// No two components of the document may share a name, even if their kinds differ:
// oapi-codegen generates a Go type for each.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"walk/client"
)

var (
	ctx = context.Background()
	c   = must(client.NewClientWithResponses(os.Args[1], client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
		return nil
	})))
)

func main() {
	f, etag := create()
	read(f)
	replace(f, etag)
	patch(f)
	remove(f)
	carry()
	fmt.Println("the Go client: list, create, get, replace, patch, delete, import, undo, export, changes and four errors")
}

// must returns an answer, and ends the walk after an error.
func must[T any](answer T, err error) T {
	if err != nil {
		log.Fatal("Error: ", err)
	}
	return answer
}

// expect ends the walk unless the response has this status and its content is right.
func expect(what string, response *http.Response, status int, right bool) {
	if response.StatusCode != status || !right {
		log.Fatalf("Error: %s: unexpected response %s", what, response.Status)
	}
}

// create creates one record with two requests that have the same Idempotency-Key.
// A third request is not valid.
func create() (f *client.Firefighter, etag string) {
	phone, born, once := "091 234 5678", "1990-05-15", "walk-1"
	input := client.FirefighterInput{FirstName: "Ana", LastName: "Čović", PhoneNumber: &phone, DateOfBirth: &born}
	for range 2 {
		r := must(c.CreateFirefighterWithResponse(ctx, &client.CreateFirefighterParams{IdempotencyKey: &once}, input))
		f, etag = r.JSON201, r.HTTPResponse.Header.Get("ETag")
		expect("creating", r.HTTPResponse, 201, f != nil && f.LastName == "Čović" && f.Email == nil && etag != "")
	}
	bad := must(c.CreateFirefighterWithResponse(ctx, nil, client.FirefighterInput{FirstName: "Ana"}))
	p := bad.ApplicationproblemJSON400
	expect("creating without a last name", bad.HTTPResponse, 400, p != nil && p.Code == client.ProblemCodeInvalid && p.Errors != nil &&
		(*p.Errors)[0].Field == "lastName" && (*p.Errors)[0].Code == client.FaultCodeRequired)
	return f, etag
}

// read lists and gets the record.
func read(f *client.Firefighter) {
	search, by, direction := "covic", client.ListFirefightersParamsSortByLastName, client.ListFirefightersParamsSortDirAsc
	list := must(c.ListFirefightersWithResponse(ctx, &client.ListFirefightersParams{Search: &search, SortBy: &by, SortDir: &direction}))
	page := list.JSON200
	expect("listing", list.HTTPResponse, 200, page != nil && page.TotalCount == 1 && len(page.Data.Items) == 1 && page.Data.Items[0].Id == f.Id)
	one := must(c.GetFirefighterWithResponse(ctx, f.Id, nil))
	expect("getting", one.HTTPResponse, 200, one.JSON200 != nil && one.JSON200.DateOfBirth != nil && one.JSON200.DateOfBirth.Day() == 15)
}

// replace replaces the record twice with the same If-Match. The second request
// must fail.
func replace(f *client.Firefighter, etag string) {
	input := client.FirefighterInput{FirstName: "Eva", LastName: f.LastName, Id: f.Id}
	params := &client.ReplaceFirefighterParams{IfMatch: &etag}
	first := must(c.ReplaceFirefighterWithResponse(ctx, f.Id, params, input))
	expect("replacing", first.HTTPResponse, 200, first.JSON200 != nil && first.JSON200.FirstName == "Eva" && first.JSON200.PhoneNumber == nil)
	late := must(c.ReplaceFirefighterWithResponse(ctx, f.Id, params, input))
	expect("replacing a changed record", late.HTTPResponse, 412, late.ApplicationproblemJSON412 != nil)
}

// patch changes one member.
func patch(f *client.Firefighter) {
	phone := "112"
	r := must(c.PatchFirefighterWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, f.Id, nil, client.FirefighterPatch{PhoneNumber: &phone}))
	expect("patching", r.HTTPResponse, 200, r.JSON200 != nil && *r.JSON200.PhoneNumber == phone && r.JSON200.FirstName == "Eva")
}

// carry imports two people, takes the import back, and looks for both in the
// changes. An export has nobody then.
func carry() {
	apply := true
	made := must(c.ImportFirefightersWithBodyWithResponse(ctx, &client.ImportFirefightersParams{Apply: &apply}, "text/csv",
		strings.NewReader("First name,Last name\nAna,A\nEva,B\n")))
	expect("importing", made.HTTPResponse, 201, made.JSON201 != nil && made.JSON201.Added == 2 && *made.JSON201.Number == 1)
	all := client.ImportFirefightersParamsRowsAll
	refused := must(c.ImportFirefightersWithBodyWithResponse(ctx, &client.ImportFirefightersParams{Apply: &apply, Rows: &all, Add: &[]string{"2", "3"}}, "text/csv",
		strings.NewReader("First name,Last name\nIva,C\nMia,\n")))
	p := refused.ApplicationproblemJSON422
	expect("importing a bad row", refused.HTTPResponse, 422, p != nil && p.Code == client.ProblemCodeRowsRefused && *p.Refused == 1 && len(*p.Rows) == 2 &&
		(*p.Rows)[1].Result == "refused" && (*p.Rows)[1].Errors[0].Field == "lastName")
	undone := must(c.TakeImportBackWithResponse(ctx, 1, nil))
	expect("taking back", undone.HTTPResponse, 200, undone.JSON200 != nil && undone.JSON200.Deleted == 2)
	feed := must(c.ListChangesWithResponse(ctx, nil))
	expect("following", feed.HTTPResponse, 200, feed.JSON200 != nil && !feed.JSON200.More && len(feed.JSON200.Items) > 0 && feed.JSON200.Items[0].Record == nil)
	file := must(c.ExportFirefightersWithResponse(ctx, nil))
	expect("exporting", file.HTTPResponse, 200, strings.HasSuffix(string(file.Body), "userId\r\n"))
}

// remove deletes the record and gets it again, which must fail.
func remove(f *client.Firefighter) {
	gone := must(c.DeleteFirefighterWithResponse(ctx, f.Id, nil))
	expect("deleting", gone.HTTPResponse, 204, len(gone.Body) == 0)
	none := must(c.GetFirefighterWithResponse(ctx, f.Id, nil))
	expect("getting a deleted record", none.HTTPResponse, 404,
		none.ApplicationproblemJSON404 != nil && none.ApplicationproblemJSON404.Code == client.ProblemCodeRecord)
}

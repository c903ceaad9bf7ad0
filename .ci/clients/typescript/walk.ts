// Calls each operation of the API with openapi-fetch and the types that
// openapi-typescript generates from docs/openapi.yaml. .ci/contract compiles it
// with strict checks and runs it.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Firefighter = components["schemas"]["Firefighter"];

declare const process: { env: Record<string, string | undefined>; argv: string[] };

const client = createClient<paths>({
  baseUrl: process.argv[2]!,
  headers: { Authorization: `Bearer ${process.env["KEY"]}` },
});

function expect(what: string, response: Response, status: number, right: boolean): void {
  if (response.status !== status || !right) {
    throw new Error(`${what}: unexpected status ${response.status}`);
  }
}

async function create(): Promise<{ made: Firefighter; etag: string }> {
  const body = { firstName: "Ana", lastName: "Čović", phoneNumber: "091 234 5678", dateOfBirth: "1990-05-15" };
  const { data, response } = await client.POST("/api/v1/firefighters", {
    params: { header: { "Idempotency-Key": "walk-2" } },
    body,
  });
  const etag = response.headers.get("ETag") ?? "";
  expect("creating", response, 201, data?.dateOfBirth === "1990-05-15T00:00:00Z" && data.email === null && etag !== "");
  const bad = await client.POST("/api/v1/firefighters", { body: { firstName: "Ana", lastName: " " } });
  expect("creating without a last name", bad.response, 400, bad.error?.code === "invalid" && bad.error.errors?.[0]?.code === "required");
  return { made: data!, etag };
}

async function read(made: Firefighter): Promise<void> {
  const list = await client.GET("/api/v1/firefighters", {
    params: { query: { search: "covic", sortBy: "lastName", sortDir: "asc", pageSize: 10 } },
  });
  expect("listing", list.response, 200, list.data?.totalCount === 1 && list.data.data.items[0]?.id === made.id);
  const one = await client.GET("/api/v1/firefighters/{id}", { params: { path: { id: made.id } } });
  expect("getting", one.response, 200, one.data?.lastName === "Čović");
}

// A client may send back a record as it received it, with one member changed.
async function replace(made: Firefighter, etag: string): Promise<void> {
  const params = { path: { id: made.id }, header: { "If-Match": etag } };
  const body = { ...made, firstName: "Eva" };
  const first = await client.PUT("/api/v1/firefighters/{id}", { params, body });
  expect("replacing", first.response, 200, first.data?.firstName === "Eva" && first.data.phoneNumber === "091 234 5678");
  const late = await client.PUT("/api/v1/firefighters/{id}", { params, body });
  expect("replacing a changed record", late.response, 412, late.error?.status === 412);
}

async function patch(made: Firefighter): Promise<void> {
  const { data, response } = await client.PATCH("/api/v1/firefighters/{id}", {
    params: { path: { id: made.id } },
    headers: { "Content-Type": "application/merge-patch+json" },
    body: { phoneNumber: null },
  });
  expect("patching", response, 200, data?.phoneNumber === null && data.firstName === "Eva");
}

// The clients share a database. The other one may have imported before.
async function carry(): Promise<void> {
  const made = await client.POST("/api/v1/imports", {
    params: { query: { apply: true } },
    headers: { "Content-Type": "application/octet-stream" },
    body: "First name,Last name\nAna,A\nEva,B\n",
    bodySerializer: (body) => body,
  });
  const number = made.data?.number ?? 0;
  expect("importing", made.response, 201, made.data?.added === 2 && number > 0);
  const refused = await client.POST("/api/v1/imports", {
    params: { query: { apply: true, rows: "all", add: ["2", "3"] } },
    headers: { "Content-Type": "application/octet-stream" },
    body: "First name,Last name\nIva,C\nMia,\n",
    bodySerializer: (body) => body,
  });
  const problem = refused.error;
  expect("importing a bad row", refused.response, 422, problem?.code === "rows_refused" && "rows" in problem && problem.rows?.[1]?.errors[0]?.field === "lastName");
  const undone = await client.DELETE("/api/v1/imports/{number}", { params: { path: { number } } });
  expect("taking back", undone.response, 200, undone.data?.deleted === 2);
  const feed = await client.GET("/api/v1/changes", { params: { query: { limit: 1000 } } });
  expect("following", feed.response, 200, feed.data?.more === false && feed.data.items.every((item) => item.record === null));
  const file = await client.GET("/api/v1/export", { params: { query: { format: "csv" } }, parseAs: "text" });
  expect("exporting", file.response, 200, `${file.data}`.endsWith("userId\r\n"));
}

async function remove(made: Firefighter): Promise<void> {
  const params = { path: { id: made.id } };
  const gone = await client.DELETE("/api/v1/firefighters/{id}", { params });
  expect("deleting", gone.response, 204, gone.error === undefined);
  const none = await client.GET("/api/v1/firefighters/{id}", { params });
  expect("getting a deleted record", none.response, 404, none.error?.code === "record");
}

const { made, etag } = await create();
await read(made);
await replace(made, etag);
await patch(made);
await remove(made);
await carry();
console.log("the TypeScript client: list, create, get, replace, patch, delete, import, undo, export, changes and four errors");
